//! Which items belong to which order, computable from either side.
//!
//! Orders come in groups of 14 that have 43 items between them: how many each has is always the same list, taken in an
//! order that the seed gives to the group. So the table of items has an exact size, an order knows its items, and an
//! item its order, without anything being counted from the start.

use super::{Source, Stream};

/// Items of an order: 1 to 5, three on average.
const ITEMS: [u64; 14] = [3, 4, 1, 2, 5, 4, 3, 2, 4, 1, 3, 4, 2, 5];
/// Steps through the list that meet each place once.
const STRIDES: [u64; 6] = [1, 3, 5, 9, 11, 13];

/// Orders in a group.
pub(super) const GROUP_ORDERS: u64 = ITEMS.len() as u64;
/// Items in a group.
pub(super) const GROUP_ITEMS: u64 = 43;

/// The rows of the items of order `order`: the first, and how many.
pub(super) fn items_of(source: &Source, order: u64) -> (u64, u64) {
    let group = order / GROUP_ORDERS;
    let mut first = group * GROUP_ITEMS;
    let place = order % GROUP_ORDERS;
    let mut counts = counts(source, group);
    for count in counts.by_ref().take(place as usize) {
        first += count;
    }
    (first, counts.next().unwrap_or_default())
}

/// The order of the item in row `item`, and the item's number in it, from 0.
pub(super) fn order_of(source: &Source, item: u64) -> (u64, u64) {
    let group = item / GROUP_ITEMS;
    let mut left = item % GROUP_ITEMS;
    for (place, count) in (0..).zip(counts(source, group)) {
        if left < count {
            return (group * GROUP_ORDERS + place, left);
        }
        left -= count;
    }
    unreachable!("a group has {GROUP_ITEMS} items")
}

/// How many items the orders of a group have.
fn counts(source: &Source, group: u64) -> impl Iterator<Item = u64> {
    let mut draws = source.draws(Stream::Basket, group);
    let (start, stride) = (draws.below(GROUP_ORDERS), draws.choice(&STRIDES));
    (0..GROUP_ORDERS).map(move |place| ITEMS[((start + place * stride) % GROUP_ORDERS) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_as_large_as_its_name_says() {
        assert_eq!(ITEMS.iter().sum::<u64>(), GROUP_ITEMS);
    }

    #[test]
    fn orders_and_items_know_one_another() {
        let source = Source { seed: 5, scale: 1 };
        let mut item = 0;
        for order in 0..140 {
            let (first, count) = items_of(&source, order);
            assert_eq!(first, item);
            for line in 0..count {
                assert_eq!(order_of(&source, item), (order, line));
                item += 1;
            }
        }
        assert_eq!(item, 430);
    }

    #[test]
    fn groups_differ() {
        let source = Source { seed: 5, scale: 1 };
        let first: Vec<u64> = counts(&source, 0).collect();
        assert!((1..5).any(|group| counts(&source, group).ne(first.iter().copied())));
    }
}
