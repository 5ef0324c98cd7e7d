//! The data of the workload `order-entry`: customers who order products from warehouses.
//!
//! Sizes grow in a straight line with the scale, but for the ten warehouses, so that a query that touches one customer,
//! product or sales representative touches as many rows at any scale. Whatever a row says of another (an item's price,
//! an order's total, who lives where) is computed again from that row's own draws.
//!
//! `python/dbdyno/workloads/order-entry/` has the tables and the transactions.

use super::baskets::{items_of, order_of};
use super::copy_text::CopyText;
use super::words;
use super::{Source, Stream, Table};

const CUSTOMERS: u64 = 10_000;
const ADDRESSES: u64 = 15_000;
const PRODUCTS: u64 = 1_000;
const WAREHOUSES: u64 = 10;
const ORDERS: u64 = 14_000;
const ITEMS: u64 = 43_000;
const LOGONS: u64 = 20_000;
const SALES_REPS: u64 = 100;
const SUPPLIERS: u64 = 50;
const CATEGORIES: u64 = 20;

/// Popular products are scattered over the table by stepping through it with a prime; the scripts of the workload
/// take the same steps, so that what was popular stays so.
const SCATTER: u64 = 7_919;

const SECONDS_IN_DAY: u64 = 86_400;
/// Orders and logons lie in the five years from 2021-01-01.
const DAYS: u64 = 1_826;
/// The last of the orders are still to be processed.
const NEW_ORDERS_PERCENT: u64 = 3;

pub(super) const TABLES: &[Table] = &[
    Table {
        name: "customers",
        columns: &[
            "customer_id",
            "first_name",
            "last_name",
            "email",
            "phone",
            "date_of_birth",
            "customer_class",
            "language",
            "country",
            "credit_limit",
            "account_manager_id",
            "customer_since",
        ],
        rows: |scale| CUSTOMERS * scale,
        rows_per_chunk: 10_000,
        bytes_per_row: 160,
        write: customer,
    },
    Table {
        name: "addresses",
        columns: &["address_id", "customer_id", "house_number", "street", "town", "post_code", "country", "created_on"],
        rows: |scale| ADDRESSES * scale,
        rows_per_chunk: 10_000,
        bytes_per_row: 96,
        write: address,
    },
    Table {
        name: "card_details",
        columns: &["card_id", "customer_id", "card_type", "last_digits", "expires_on", "is_valid"],
        rows: |scale| CUSTOMERS * scale,
        rows_per_chunk: 10_000,
        bytes_per_row: 64,
        write: card,
    },
    Table {
        name: "warehouses",
        columns: &["warehouse_id", "name", "town", "country"],
        rows: |_| WAREHOUSES,
        rows_per_chunk: WAREHOUSES,
        bytes_per_row: 64,
        write: warehouse,
    },
    Table {
        name: "products",
        columns: &[
            "product_id",
            "name",
            "category_id",
            "supplier_id",
            "status",
            "list_price",
            "weight_grams",
            "warranty_months",
        ],
        rows: |scale| PRODUCTS * scale,
        rows_per_chunk: 10_000,
        bytes_per_row: 80,
        write: product,
    },
    Table {
        name: "product_descriptions",
        columns: &["product_id", "language", "summary", "description"],
        rows: |scale| PRODUCTS * scale,
        rows_per_chunk: 1_000,
        bytes_per_row: 4_096,
        write: description,
    },
    Table {
        name: "inventories",
        columns: &["product_id", "warehouse_id", "quantity_on_hand", "quantity_received", "quantity_issued"],
        rows: |scale| PRODUCTS * WAREHOUSES * scale,
        rows_per_chunk: 10_000,
        bytes_per_row: 32,
        write: inventory,
    },
    Table {
        name: "orders",
        columns: &[
            "order_id",
            "customer_id",
            "order_date",
            "order_mode",
            "order_status",
            "order_total",
            "sales_rep_id",
            "warehouse_id",
            "delivery_address_id",
            "delivery_type",
            "delivery_cost",
            "shipped_on",
            "from_stock",
        ],
        rows: |scale| ORDERS * scale,
        rows_per_chunk: 10_000,
        bytes_per_row: 144,
        write: order,
    },
    Table {
        name: "order_items",
        columns: &["order_id", "line", "product_id", "unit_price", "quantity", "dispatched_on"],
        rows: |scale| ITEMS * scale,
        rows_per_chunk: 10_000,
        bytes_per_row: 56,
        write: item,
    },
    Table {
        name: "logon",
        columns: &["logon_id", "customer_id", "logged_on_at"],
        rows: |scale| LOGONS * scale,
        rows_per_chunk: 10_000,
        bytes_per_row: 48,
        write: logon,
    },
];

fn customer(source: &Source, row: u64, text: &mut CopyText) {
    let mut draws = source.draws(Stream::Customer, row);
    let first_name = words::FIRST_NAMES[draws.falling(words::FIRST_NAMES.len() as u64) as usize];
    let last_names = words::LAST_NAME_BEGINNINGS.len() * words::LAST_NAME_ENDINGS.len();
    let last_name = draws.falling(last_names as u64) as usize;
    let beginning = words::LAST_NAME_BEGINNINGS[last_name % words::LAST_NAME_BEGINNINGS.len()];
    let ending = words::LAST_NAME_ENDINGS[last_name / words::LAST_NAME_BEGINNINGS.len()];
    text.integer(row + 1);
    text.text(first_name);
    text.part(beginning);
    text.text(ending);
    for part in [first_name, ".", beginning, ending, "."] {
        text.lower_part(part);
    }
    text.digits(row + 1);
    text.text("@example.com");
    text.part("+");
    text.digits(draws.between(10_000_000_000, 99_999_999_999));
    text.end_value();
    text.date(-(draws.between(18 * 365, 80 * 365) as i64));
    text.text(draws.weighted(words::CUSTOMER_CLASSES));
    text.text(draws.weighted(words::LANGUAGES));
    text.text(draws.weighted(words::COUNTRIES));
    text.cents(draws.between(1, 100) * 10_000);
    text.integer(1 + draws.below(SALES_REPS * source.scale));
    text.date(draws.below(DAYS) as i64);
    text.end_row();
}

/// Every customer has an address of the same number; the others belong to whoever has more than one.
fn address(source: &Source, row: u64, text: &mut CopyText) {
    let customers = CUSTOMERS * source.scale;
    let mut draws = source.draws(Stream::Address, row);
    let owner = if row < customers { row } else { draws.below(customers) };
    text.integer(row + 1);
    text.integer(owner + 1);
    text.integer(draws.between(1, 250));
    text.text(draws.choice(words::STREETS));
    text.text(draws.choice(words::TOWNS));
    text.integer(draws.between(10_000, 99_999));
    text.text(draws.weighted(words::COUNTRIES));
    text.date(draws.below(DAYS) as i64);
    text.end_row();
}

fn card(source: &Source, row: u64, text: &mut CopyText) {
    let mut draws = source.draws(Stream::Card, row);
    text.integer(row + 1);
    text.integer(row + 1);
    text.text(draws.weighted(words::CARD_TYPES));
    text.integer(draws.between(1_000, 9_999));
    text.date((DAYS + draws.below(DAYS)) as i64);
    text.boolean(draws.percent(97));
    text.end_row();
}

fn warehouse(source: &Source, row: u64, text: &mut CopyText) {
    let mut draws = source.draws(Stream::Warehouse, row);
    text.integer(row + 1);
    text.part("Warehouse ");
    text.digits(row + 1);
    text.end_value();
    text.text(draws.choice(words::TOWNS));
    text.text(draws.weighted(words::COUNTRIES));
    text.end_row();
}

fn product(source: &Source, row: u64, text: &mut CopyText) {
    let mut draws = source.draws(Stream::Product, row);
    text.integer(row + 1);
    product_name(source, row, text);
    text.integer(1 + draws.falling(CATEGORIES));
    text.integer(1 + draws.below(SUPPLIERS * source.scale));
    text.text(draws.weighted(words::PRODUCT_STATUSES));
    text.cents(list_price_cents(source, row));
    text.integer(draws.between(50, 30_000));
    text.integer(draws.choice(&[12, 24, 36, 60]));
    text.end_row();
}

/// A summary that fits into the row and a description of 1 to 6 kB: the longer ones are kept out of line.
fn description(source: &Source, row: u64, text: &mut CopyText) {
    let mut draws = source.draws(Stream::Description, row);
    text.integer(row + 1);
    text.text("en");
    prose(text, 12, &mut draws);
    let words = draws.between(200, 1_200);
    prose(text, words, &mut draws);
    text.end_row();
}

fn inventory(source: &Source, row: u64, text: &mut CopyText) {
    let received = source.draws(Stream::Inventory, row).between(200, 1_000);
    text.integer(row / WAREHOUSES + 1);
    text.integer(row % WAREHOUSES + 1);
    text.integer(received);
    text.integer(received);
    text.integer(0);
    text.end_row();
}

fn order(source: &Source, row: u64, text: &mut CopyText) {
    let orders = ORDERS * source.scale;
    let mut draws = source.draws(Stream::Order, row);
    let customer = draws.below(CUSTOMERS * source.scale) + 1;
    let placed_at = order_time(source, row);
    let is_new = is_new(row, orders);
    text.integer(row + 1);
    text.integer(customer);
    text.timestamp(placed_at);
    text.text(draws.weighted(words::ORDER_MODES));
    let past_status = draws.weighted(words::PAST_STATUSES);
    text.text(if is_new { "new" } else { past_status });
    text.cents(order_total_cents(source, row));
    text.integer(1 + draws.below(SALES_REPS * source.scale));
    text.integer(1 + draws.below(WAREHOUSES));
    text.integer(customer);
    text.text(draws.weighted(words::DELIVERY_TYPES));
    text.cents(draws.between(0, 20) * 100);
    if is_new {
        text.null()
    } else {
        text.date((placed_at / SECONDS_IN_DAY) as i64 + 1)
    }
    text.boolean(false);
    text.end_row();
}

fn item(source: &Source, row: u64, text: &mut CopyText) {
    let (order, line) = order_of(source, row);
    let (product, quantity) = product_and_quantity(source, row);
    text.integer(order + 1);
    text.integer(line + 1);
    text.integer(product + 1);
    text.cents(list_price_cents(source, product));
    text.integer(quantity);
    if is_new(order, ORDERS * source.scale) {
        text.null();
    } else {
        text.date((order_time(source, order) / SECONDS_IN_DAY) as i64 + 1);
    }
    text.end_row();
}

fn logon(source: &Source, row: u64, text: &mut CopyText) {
    let mut draws = source.draws(Stream::Logon, row);
    text.integer(row + 1);
    text.integer(1 + draws.below(CUSTOMERS * source.scale));
    text.timestamp(spread(row, LOGONS * source.scale) + draws.below(SECONDS_IN_DAY));
    text.end_row();
}

fn product_name(source: &Source, row: u64, text: &mut CopyText) {
    let mut draws = source.draws(Stream::Product, u64::MAX - row);
    text.part(draws.choice(words::PRODUCT_QUALITIES));
    text.part(" ");
    text.part(draws.choice(words::PRODUCT_KINDS));
    text.part(" ");
    text.digits(row + 1);
    text.end_value();
}

fn prose(text: &mut CopyText, words: u64, draws: &mut super::Draws) {
    for _ in 1..words {
        text.part(draws.choice(words::DESCRIPTION_WORDS));
        text.part(" ");
    }
    text.text(draws.choice(words::DESCRIPTION_WORDS));
}

/// 2.99 to 1023.99; cheap products are as many in each octave as dear ones.
fn list_price_cents(source: &Source, product: u64) -> u64 {
    let units = 1 + source.draws(Stream::Price, product).zipf(1_022);
    units * 100 + 99
}

fn product_and_quantity(source: &Source, item: u64) -> (u64, u64) {
    let products = PRODUCTS * source.scale;
    let mut draws = source.draws(Stream::Item, item);
    (draws.zipf(products) * SCATTER % products, draws.zipf(10))
}

fn order_total_cents(source: &Source, order: u64) -> u64 {
    let (first, count) = items_of(source, order);
    (first..first + count)
        .map(|item| {
            let (product, quantity) = product_and_quantity(source, item);
            list_price_cents(source, product) * quantity
        })
        .sum()
}

/// Later orders have later dates, within a day.
fn order_time(source: &Source, order: u64) -> u64 {
    spread(order, ORDERS * source.scale) + source.draws(Stream::Order, u64::MAX - order).below(SECONDS_IN_DAY)
}

/// The place of row `row` of `rows` in all the days but the last.
fn spread(row: u64, rows: u64) -> u64 {
    row * ((DAYS - 1) * SECONDS_IN_DAY) / rows
}

fn is_new(order: u64, orders: u64) -> bool {
    order >= orders - orders * NEW_ORDERS_PERCENT / 100
}
