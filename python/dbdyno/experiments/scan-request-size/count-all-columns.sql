SELECT count(wr_returned_date_sk), count(wr_returned_time_sk), count(wr_item_sk), count(wr_refunded_customer_sk),
       count(wr_refunded_cdemo_sk), count(wr_refunded_hdemo_sk), count(wr_refunded_addr_sk),
       count(wr_returning_customer_sk), count(wr_returning_cdemo_sk), count(wr_returning_hdemo_sk),
       count(wr_returning_addr_sk), count(wr_web_page_sk), count(wr_reason_sk), count(wr_order_number),
       count(wr_return_quantity), count(wr_return_amt), count(wr_return_tax), count(wr_return_amt_inc_tax),
       count(wr_fee), count(wr_return_ship_cost), count(wr_refunded_cash), count(wr_reversed_charge),
       count(wr_account_credit), count(wr_net_loss)
FROM web_returns
