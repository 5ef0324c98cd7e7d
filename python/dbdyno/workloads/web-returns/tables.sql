-- The table web_returns of TPC-DS: its 24 columns, their names and types. For scans, hence without an index.
-- Rows follow the scale factor in a straight line through 720,000 at scale 10 and 7,197,670 at scale 100; there are
-- 72,233 at scale 1. The seed decides the values, the scale how many there are.
CREATE TABLE web_returns (
    wr_returned_date_sk      integer,
    wr_returned_time_sk      integer,
    wr_item_sk               integer NOT NULL,
    wr_refunded_customer_sk  integer,
    wr_refunded_cdemo_sk     integer,
    wr_refunded_hdemo_sk     integer,
    wr_refunded_addr_sk      integer,
    wr_returning_customer_sk integer,
    wr_returning_cdemo_sk    integer,
    wr_returning_hdemo_sk    integer,
    wr_returning_addr_sk     integer,
    wr_web_page_sk           integer,
    wr_reason_sk             integer,
    wr_order_number          integer NOT NULL,
    wr_return_quantity       integer,
    wr_return_amt            decimal(7, 2),
    wr_return_tax            decimal(7, 2),
    wr_return_amt_inc_tax    decimal(7, 2),
    wr_fee                   decimal(7, 2),
    wr_return_ship_cost      decimal(7, 2),
    wr_refunded_cash         decimal(7, 2),
    wr_reversed_charge       decimal(7, 2),
    wr_account_credit        decimal(7, 2),
    wr_net_loss              decimal(7, 2)
);
