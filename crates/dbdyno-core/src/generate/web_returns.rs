//! The table `web_returns` of TPC-DS (24 columns), for scans: names, types, and about 4 % of NULLs are the
//! specification's; the values are ours.
//!
//! Sizes follow the scale factors of the specification by a straight line through the two sizes that published
//! measurements used: 720,000 rows at scale 10 and 7,197,670 at scale 100 (the specification's own generator makes
//! 719,217 and 7,197,670). Scale 1 has 72,233 rows.

use super::copy_text::CopyText;
use super::draws::Draws;
use super::{Source, Stream, Table};

const ROWS_AT_10: u64 = 720_000;
const ROWS_AT_100: u64 = 7_197_670;
const NULL_PERCENT: u64 = 4;

/// Sales days and their keys, as in the specification's calendar: five years from 1998-01-02.
const FIRST_DAY: u64 = 2_450_816;
const DAYS: u64 = 1_827;

pub(super) const TABLES: &[Table] = &[Table {
    name: "web_returns",
    columns: &[
        "wr_returned_date_sk",
        "wr_returned_time_sk",
        "wr_item_sk",
        "wr_refunded_customer_sk",
        "wr_refunded_cdemo_sk",
        "wr_refunded_hdemo_sk",
        "wr_refunded_addr_sk",
        "wr_returning_customer_sk",
        "wr_returning_cdemo_sk",
        "wr_returning_hdemo_sk",
        "wr_returning_addr_sk",
        "wr_web_page_sk",
        "wr_reason_sk",
        "wr_order_number",
        "wr_return_quantity",
        "wr_return_amt",
        "wr_return_tax",
        "wr_return_amt_inc_tax",
        "wr_fee",
        "wr_return_ship_cost",
        "wr_refunded_cash",
        "wr_reversed_charge",
        "wr_account_credit",
        "wr_net_loss",
    ],
    rows: rows_at,
    rows_per_chunk: 10_000,
    bytes_per_row: 192,
    write: web_return,
}];

fn rows_at(scale: u64) -> u64 {
    // Summed before it is subtracted from: 90 x 720,000 is more than ten slopes, so no scale goes below zero.
    let slope = ROWS_AT_100 - ROWS_AT_10;
    (90 * ROWS_AT_10 + scale * slope - 10 * slope) / 90
}

/// Writes the values of one row, some of them as NULL.
struct Row<'a> {
    text: &'a mut CopyText,
    draws: Draws,
}

impl Row<'_> {
    fn key(&mut self, low: u64, count: u64) {
        let key = low + self.draws.below(count);
        if self.kept() { self.text.integer(key) } else { self.text.null() }
    }

    fn amount(&mut self, cents: u64) {
        if self.kept() { self.text.cents(cents) } else { self.text.null() }
    }

    fn kept(&mut self) -> bool {
        !self.draws.percent(NULL_PERCENT)
    }
}

fn web_return(source: &Source, row: u64, text: &mut CopyText) {
    let items = 18_000 * source.scale.min(20);
    let customers = 100_000 * source.scale.min(100);
    let mut out = Row { text, draws: source.draws(Stream::WebReturn, row) };
    out.key(FIRST_DAY, DAYS);
    out.key(0, 86_400);
    let item = out.draws.zipf(items);
    out.text.integer(item);
    for _refunded_then_returning in 0..2 {
        out.key(1, customers);
        out.key(1, 1_920_800);
        out.key(1, 7_200);
        out.key(1, customers / 2);
    }
    out.key(1, 2_040);
    out.key(1, 65);
    out.text.integer(row + 1);
    amounts(&mut out);
    out.text.end_row();
}

/// Refunds add up to the amount, and the amount with tax to both: where none of them is NULL, a query can tell.
fn amounts(out: &mut Row<'_>) {
    let quantity = out.draws.between(1, 100);
    let amount = quantity * out.draws.between(1, 28_000).min(out.draws.between(1, 28_000));
    // Decimals of five digits before the point hold 99,999.99; amount and tax stay below it.
    let amount = amount.min(9_000_000);
    let tax = amount * out.draws.below(10) / 100;
    let fee = out.draws.between(50, 10_000);
    let ship = amount * out.draws.below(50) / 100;
    let cash = out.draws.below(amount + 1);
    let reversed = out.draws.below(amount - cash + 1);
    if out.kept() {
        out.text.integer(quantity)
    } else {
        out.text.null()
    }
    for cents in [
        amount,
        tax,
        amount + tax,
        fee,
        ship,
        cash,
        reversed,
        amount - cash - reversed,
        (tax + fee + ship).min(9_999_999),
    ] {
        out.amount(cents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_published_measurements() {
        assert_eq!((rows_at(1), rows_at(10), rows_at(100)), (72_233, 720_000, 7_197_670));
    }
}
