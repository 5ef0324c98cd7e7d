-- Keys first, then the indexes that the foreign keys stand on, then those of the searches.

-- Identity columns go on where the load ended.
SELECT setval(pg_get_serial_sequence('customers', 'customer_id'), max(customer_id)) FROM customers;
SELECT setval(pg_get_serial_sequence('addresses', 'address_id'), max(address_id)) FROM addresses;
SELECT setval(pg_get_serial_sequence('card_details', 'card_id'), max(card_id)) FROM card_details;
SELECT setval(pg_get_serial_sequence('orders', 'order_id'), max(order_id)) FROM orders;
SELECT setval(pg_get_serial_sequence('logon', 'logon_id'), max(logon_id)) FROM logon;

ALTER TABLE customers ADD PRIMARY KEY (customer_id), ADD UNIQUE (email);
ALTER TABLE addresses ADD PRIMARY KEY (address_id);
ALTER TABLE card_details ADD PRIMARY KEY (card_id);
ALTER TABLE warehouses ADD PRIMARY KEY (warehouse_id), ADD UNIQUE (name);
ALTER TABLE products ADD PRIMARY KEY (product_id), ADD UNIQUE (name);
ALTER TABLE product_descriptions ADD PRIMARY KEY (product_id, language);
ALTER TABLE inventories ADD PRIMARY KEY (product_id, warehouse_id);
ALTER TABLE orders ADD PRIMARY KEY (order_id);
ALTER TABLE order_items ADD PRIMARY KEY (order_id, line);
ALTER TABLE logon ADD PRIMARY KEY (logon_id);

ALTER TABLE orders
    ADD CHECK (order_status IN ('new', 'shipped', 'delivered', 'cancelled', 'returned')),
    ADD CHECK (order_total >= 0);
ALTER TABLE order_items ADD CHECK (quantity > 0), ADD CHECK (line > 0);

ALTER TABLE addresses ADD FOREIGN KEY (customer_id) REFERENCES customers;
ALTER TABLE card_details ADD FOREIGN KEY (customer_id) REFERENCES customers;
ALTER TABLE logon ADD FOREIGN KEY (customer_id) REFERENCES customers;
ALTER TABLE product_descriptions ADD FOREIGN KEY (product_id) REFERENCES products;
ALTER TABLE inventories
    ADD FOREIGN KEY (product_id) REFERENCES products,
    ADD FOREIGN KEY (warehouse_id) REFERENCES warehouses;
ALTER TABLE orders
    ADD FOREIGN KEY (customer_id) REFERENCES customers,
    ADD FOREIGN KEY (warehouse_id) REFERENCES warehouses,
    ADD FOREIGN KEY (delivery_address_id) REFERENCES addresses;
ALTER TABLE order_items
    ADD FOREIGN KEY (order_id) REFERENCES orders,
    ADD FOREIGN KEY (product_id) REFERENCES products;

-- Below foreign keys, where no key begins with their column.

-- update-customer-details and order-products: the addresses of a customer.
CREATE INDEX addresses_customer ON addresses (customer_id);
-- update-customer-details: the cards of a customer.
CREATE INDEX card_details_customer ON card_details (customer_id);
-- None of the nine reads logons; a customer who is removed has his looked up here.
CREATE INDEX logon_customer ON logon (customer_id);
-- None of the nine goes from warehouse to stock; a warehouse that is closed has its stock looked up here.
CREATE INDEX inventories_warehouse ON inventories (warehouse_id);
-- browse-orders: the last orders of a customer.
CREATE INDEX orders_customer ON orders (customer_id, order_date);
-- warehouse-orders-query: what a warehouse has still to send.
CREATE INDEX orders_warehouse ON orders (warehouse_id, order_status);
-- None of the nine asks who lives at an address; one that is removed has its orders looked up here.
CREATE INDEX orders_delivery_address ON orders (delivery_address_id);
-- None of the nine goes from product to orders; a product that is removed has its items looked up here.
CREATE INDEX order_items_product ON order_items (product_id);

-- Of the searches: secondary indexes, which an experiment may drop.

-- browse-orders: the customers of a name, however it was typed. (An expression index.)
CREATE INDEX customers_last_name ON customers (lower(last_name));
-- update-customer-details: a caller says when he was born.
CREATE INDEX customers_date_of_birth ON customers (date_of_birth);
-- sales-rep-query: the customers of a manager, the best first.
CREATE INDEX customers_account_manager ON customers (account_manager_id, credit_limit);
-- browse-products: the cheapest of a category.
CREATE INDEX products_category ON products (category_id, list_price);
-- None of the nine: left from a report that nobody runs any more, as applications have them.
CREATE INDEX products_supplier ON products (supplier_id);
-- warehouse-query: what is nearly sold out, anywhere. Each order moves its items within it.
CREATE INDEX inventories_quantity ON inventories (quantity_on_hand);
-- process-orders: the oldest orders that are new.
CREATE INDEX orders_status ON orders (order_status, order_id);
-- warehouse-orders-query: the orders of a month.
CREATE INDEX orders_date ON orders (order_date);
-- sales-rep-query: the orders of a sales representative, the last first.
CREATE INDEX orders_sales_rep ON orders (sales_rep_id, order_date);
-- None of the nine: whoever made it thought that a column with three values wants one.
CREATE INDEX orders_mode ON orders (order_mode);
