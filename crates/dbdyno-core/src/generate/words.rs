//! The words that the data is made of. No tab, line break or backslash may stand in them, and names are ASCII.

pub(super) const FIRST_NAMES: &[&str] = &[
    "Ada", "Agnes", "Albert", "Alice", "Amir", "Anders", "Anita", "Anton", "Beatrice", "Bela", "Bruno", "Carla",
    "Cecil", "Chen", "Clara", "Dalia", "Daniel", "Diego", "Dora", "Edith", "Elena", "Emil", "Erika", "Esther", "Farid",
    "Felix", "Fiona", "Frank", "Gita", "Grace", "Greta", "Hans", "Hanna", "Harun", "Helen", "Hugo", "Ida", "Igor",
    "Irene", "Ivan", "Jana", "Jin", "Jonas", "Julia", "Kamal", "Karin", "Kenji", "Laila", "Lars", "Leo", "Lena",
    "Luis", "Maria", "Marta", "Max", "Mei", "Milan", "Nadia", "Nina", "Noah", "Olga", "Omar", "Oskar", "Paula",
    "Pavel", "Petra", "Ravi", "Rosa", "Ruth", "Samir", "Sara", "Simon", "Sofia", "Stefan", "Tariq", "Tessa", "Theo",
    "Uma", "Vera", "Viktor", "Wanda", "Yara", "Yusuf", "Zoe",
];

/// A last name is one of these ...
pub(super) const LAST_NAME_BEGINNINGS: &[&str] = &[
    "Ash", "Beck", "Black", "Brad", "Brook", "Cald", "Clay", "Cold", "Crom", "Dal", "Dun", "East", "Elm", "Fair",
    "Fen", "Glen", "Green", "Hart", "Haw", "Hazel", "High", "Holm", "Kirk", "Lang", "Lind", "Long", "Marsh", "Mill",
    "North", "Oak", "Rock", "Rose", "Sand", "Shel", "Stan", "Stone", "Wake", "West", "Whit", "Wood",
];

/// ... and one of these.
pub(super) const LAST_NAME_ENDINGS: &[&str] = &[
    "berg", "bourne", "burn", "by", "combe", "croft", "dale", "den", "don", "er", "field", "ford", "gate", "ham",
    "hill", "hurst", "ington", "land", "ley", "low", "man", "mere", "mont", "more", "ridge", "son", "stead", "ton",
    "well", "worth",
];

pub(super) const STREETS: &[&str] = &[
    "Abbey Road",
    "Baker Lane",
    "Canal Street",
    "Castle Hill",
    "Cherry Avenue",
    "Church Street",
    "Dock Road",
    "Elm Grove",
    "Factory Lane",
    "Field Way",
    "Garden Street",
    "Harbour View",
    "High Street",
    "King Street",
    "Lake Drive",
    "Linden Allee",
    "Market Place",
    "Meadow Lane",
    "Mill Road",
    "New Street",
    "Orchard Close",
    "Park Avenue",
    "Queen Street",
    "River Walk",
    "School Lane",
    "South Parade",
    "Station Road",
    "Tower Street",
    "Union Square",
    "Victoria Road",
    "Water Lane",
    "Windmill Hill",
];

pub(super) const TOWNS: &[&str] = &[
    "Aldermere",
    "Bellhaven",
    "Brightwater",
    "Calder Bridge",
    "Copperfield",
    "Dunmore",
    "Eastwick",
    "Fernhollow",
    "Goldcrest",
    "Greyport",
    "Harrowgate",
    "Ironbridge",
    "Kestrel Bay",
    "Lakeside",
    "Millbrook",
    "Northpass",
    "Oakhaven",
    "Pinecrest",
    "Queensferry",
    "Redcliff",
    "Silverton",
    "Stonegate",
    "Thornbury",
    "Underwood",
    "Valemont",
    "Westmarch",
    "Whitestone",
    "Wintermoor",
    "Yarrow",
    "Zellerfeld",
];

/// Share of customers in percent.
pub(super) const COUNTRIES: &[(u64, &str)] =
    &[(32, "US"), (18, "GB"), (14, "DE"), (10, "FR"), (8, "IN"), (6, "JP"), (5, "BR"), (4, "ES"), (3, "PL")];

pub(super) const LANGUAGES: &[(u64, &str)] = &[(55, "en"), (15, "de"), (12, "fr"), (8, "es"), (6, "ja"), (4, "pl")];

pub(super) const CUSTOMER_CLASSES: &[(u64, &str)] =
    &[(60, "regular"), (25, "business"), (12, "preferred"), (3, "partner")];

pub(super) const CARD_TYPES: &[(u64, &str)] = &[(50, "debit"), (35, "credit"), (10, "prepaid"), (5, "company")];

pub(super) const ORDER_MODES: &[(u64, &str)] = &[(78, "online"), (15, "phone"), (7, "direct")];

pub(super) const DELIVERY_TYPES: &[(u64, &str)] = &[(70, "standard"), (20, "express"), (10, "collection")];

/// Orders that are no longer new.
pub(super) const PAST_STATUSES: &[(u64, &str)] =
    &[(88, "delivered"), (5, "shipped"), (4, "cancelled"), (3, "returned")];

pub(super) const PRODUCT_STATUSES: &[(u64, &str)] = &[(92, "orderable"), (6, "obsolete"), (2, "planned")];

/// A product's name is one of these ...
pub(super) const PRODUCT_QUALITIES: &[&str] = &[
    "Basic", "Classic", "Compact", "Deluxe", "Double", "Extra", "Fine", "Folding", "Heavy", "Light", "Modern",
    "Portable", "Quick", "Quiet", "Robust", "Silent", "Simple", "Slim", "Smart", "Solid", "Standard", "Swift",
    "Travel", "Ultra",
];

/// ... and one of these.
pub(super) const PRODUCT_KINDS: &[&str] = &[
    "Adapter", "Backpack", "Battery", "Bench", "Blender", "Cable", "Camera", "Chair", "Clock", "Desk", "Drill", "Fan",
    "Headset", "Heater", "Kettle", "Keyboard", "Ladder", "Lamp", "Monitor", "Mouse", "Notebook", "Pan", "Phone",
    "Printer", "Pump", "Radio", "Router", "Saw", "Scale", "Scanner", "Shelf", "Speaker", "Stand", "Table", "Tent",
    "Toaster", "Torch", "Vacuum", "Watch", "Webcam",
];

/// What descriptions are made of.
pub(super) const DESCRIPTION_WORDS: &[&str] = &[
    "made",
    "with",
    "care",
    "for",
    "daily",
    "use",
    "at",
    "home",
    "or",
    "in",
    "the",
    "office",
    "and",
    "tested",
    "under",
    "load",
    "comes",
    "complete",
    "a",
    "strong",
    "case",
    "two",
    "spare",
    "parts",
    "easy",
    "to",
    "clean",
    "quiet",
    "when",
    "running",
    "saves",
    "energy",
    "fits",
    "every",
    "standard",
    "socket",
    "light",
    "enough",
    "carry",
    "built",
    "last",
    "ten",
    "years",
    "warranty",
    "covers",
    "all",
    "moving",
    "pieces",
    "designed",
    "by",
    "engineers",
    "who",
    "need",
    "it",
    "themselves",
    "colour",
    "may",
    "vary",
    "from",
    "picture",
    "shown",
    "assembly",
    "takes",
    "minutes",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_needs_escaping() {
        let lists = [
            FIRST_NAMES,
            LAST_NAME_BEGINNINGS,
            LAST_NAME_ENDINGS,
            STREETS,
            TOWNS,
            PRODUCT_QUALITIES,
            PRODUCT_KINDS,
            DESCRIPTION_WORDS,
        ];
        for word in lists.iter().copied().flatten() {
            assert!(word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b' '), "{word:?}");
        }
    }

    #[test]
    fn shares_add_up_to_all() {
        for list in [
            COUNTRIES,
            LANGUAGES,
            CUSTOMER_CLASSES,
            CARD_TYPES,
            ORDER_MODES,
            DELIVERY_TYPES,
            PAST_STATUSES,
            PRODUCT_STATUSES,
        ] {
            assert_eq!(list.iter().map(|(share, _)| share).sum::<u64>(), 100, "{list:?}");
        }
    }
}
