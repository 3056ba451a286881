// A round as its events tell it: who got which card, what was staked, and what came back.

const PAYS = {
  win: (stake) => 2 * stake,
  push: (stake) => stake,
  natural: (stake) => stake + Math.floor((3 * stake) / 2),
  surrender: (stake) => Math.floor(stake / 2),
  loss: () => 0,
  bust: () => 0,
};

/** What comes back for a stake; undefined for an outcome that there is not. */
export const payout = (outcome, stake) =>
  Object.hasOwn(PAYS, outcome) ? PAYS[outcome](stake) : undefined;

/** What comes back for insurance. */
export const insurancePayout = (stake, natural) => (natural ? 3 * stake : 0);

const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };

/** A card as it is printed: Ts is 10♠. What is no card is shown as it is. */
export function printed(card) {
  const [rank, suit] = String(card);
  return SUITS[suit] ? `${rank === "T" ? "10" : rank}${SUITS[suit]}` : String(card).slice(0, 20);
}

/** An ace with a card that counts ten, and nothing else. */
export const isNatural = ([first, second]) =>
  [first, second].filter((card) => card?.[0] === "A").length === 1 &&
  [first, second].filter((card) => "TJQK".includes(card?.[0])).length === 1;

/** What an event is called, without the context: bet_placed. */
export const kindOf = (event) => String(event.type).split(".").pop();

/** The events of a bundle's table, its foundation left out. */
export function eventsOf(bundle) {
  const stream = streamOf(bundle);
  return bundle.events.map((each) => each.event).filter((event) => event.subject === stream);
}

/** The stream of a round's table: table-oak of oak.2. */
export const streamOf = (bundle) => `table-${tableOf(bundle)}`;

/** The table of a round: table-3 of table-3.5. */
export const tableOf = (bundle) => bundle.round.slice(0, bundle.round.lastIndexOf("."));

/** The data of the first event of a kind. Throws when there is none. */
export function first(events, kind) {
  const found = events.find((event) => kindOf(event) === kind);
  if (!found) throw new Error(`the round has no event ${kind}`);
  return found.data;
}

/** Every open card with its place in the shoe, counted from 0, and to whom it went. */
export function dealt(events) {
  const cards = [];
  const deal = (place, to, card) => cards.push({ place, to, card });
  let [holeAt, drawn] = [0, 0];
  for (const event of events) {
    const { data } = event;
    switch (kindOf(event)) {
      case "hands_dealt": {
        const count = data.hands.length;
        data.hands.forEach(([seat, one, two], at) => {
          deal(at, `seat ${seat}`, one);
          deal(count + 1 + at, `seat ${seat}`, two);
        });
        deal(count, "the upcard", data.upcard);
        [holeAt, drawn] = [2 * count + 1, 2 * count + 2];
        break;
      }
      case "hole_card_revealed":
        deal(holeAt, "the hole card", data.card);
        break;
      case "card_dealt":
      case "card_redrawn":
        deal(drawn, `seat ${data.seat}, hand ${data.hand}`, data.card);
        drawn += 1;
        break;
      case "dealer_drew":
        for (const card of data.cards) {
          deal(drawn, "the dealer", card);
          drawn += 1;
        }
    }
  }
  return { cards: cards.sort((one, other) => one.place - other.place), holeAt, drawn };
}

/** The texts that the bets brought into the shuffle, in seat order, when the bets were closed. */
export function sharesOf(events) {
  const shares = new Map();
  for (const event of events) {
    const kind = kindOf(event);
    if (kind === "round_opened") break;
    if (kind === "bet_placed") shares.set(event.data.seat, event.data.client_seed);
    if (kind === "bet_withdrawn") shares.delete(event.data.seat);
  }
  const seats = [...shares.keys()].sort((one, other) => one - other);
  return seats.map((seat) => shares.get(seat)).filter((share) => share !== null);
}

const WHOLE = [
  ...["seat", "hand", "number", "drawn"],
  ...["amount", "stake", "payout", "price", "buy_in", "cash_out", "bankroll"],
];

/**
 * The table after the round: the dealer's cards, and by seat each of the `bettors` with the hands as
 * they ended. A card comes with its place in the shoe. `moved` has the postings that each event has
 * to have, `chips` what the accounts hold in the end, and `owed` says where that was ever less than
 * nothing, or more than nothing when its player went. Throws when an event fits to nothing.
 */
export function played(bundle) {
  const { ruleset } = bundle.foundation[0].event.data;
  const table = {
    name: tableOf(bundle),
    session: ruleset.bankroll === "session",
    modified: ruleset.environment?.length > 0,
    seats: new Map(),
    bettors: new Map(),
    dealer: [],
    chips: new Map(),
    moved: [],
    owed: [],
    drawn: 0,
    closed: false,
    over: false,
  };
  bundle.before.seats.forEach((seat, at) => {
    if (seat) {
      table.seats.set(at + 1, newcomer(seat.player, seat.run));
      table.chips.set(stackOf(table, seat.player), seat.stack);
    }
  });
  for (const { event } of bundle.events) follow(table, event, event.subject === streamOf(bundle));
  return table;
}

const newcomer = (player, run = null) =>
  ({ player, run, came: 0, went: 0, bet: 0, hands: [], insurance: null });

const stackOf = ({ name }, player) => `table/${name}/player/${player}/stack`;

/** Takes up one event, of this table or of a vault. */
function follow(table, event, here) {
  readable(event, here ? "blackjack" : "ledger");
  table.moved.push(movedBy(table, event));
  const stack = stackOf(table, playerOf(table, event));
  if (here) fold(table, event);
  post(table, event);
  const left = table.chips.get(stack);
  if (/\.(player_left|run_ended)$/.test(event.type) && left) table.owed.push(`${left} chips were left on ${stack}.`);
  for (const [number, bettor] of table.over ? [] : table.bettors) {
    const seat = table.seats.get(number);
    const stays = seat?.player === bettor.player && !seat.run?.outcome;
    if (stays) bettor.went = table.chips.get(stackOf(table, seat.player));
  }
  table.over ||= kindOf(event) === "seed_revealed";
}

/** Throws for an event that is not of this context, and where a seat or chips are no whole number. */
function readable({ type, schemaversion, data }, context) {
  if (typeof type !== "string" || !type.startsWith(`${context}.`) || schemaversion !== 1) {
    throw new Error(`${String(type)} ${String(schemaversion)} is no event that is known here`);
  }
  if (Object.hasOwn(data, "player") && typeof data.player !== "string") throw new Error(`${type} names no player`);
  for (const name of WHOLE) {
    const none = name === "seat" && type === "blackjack.modifier_applied"; // the platform's has no seat
    if (Object.hasOwn(data, name) && !isCount(data[name]) && !(none && data[name] === null)) {
      throw new Error(`${type} has a ${name} that is no whole number`);
    }
  }
}

/** A number that counts something: whole, and not below 0. */
export const isCount = (value) => Number.isSafeInteger(value) && value >= 0;

const STAKED = ({ stake }) => [-stake, stake];
const SETTLED = ({ stake, payout }) => [payout, -stake, stake - payout];

/** What goes to the stack, in play and to the bank. */
const MOVES = {
  bet_placed: ({ amount }) => [-amount, amount],
  bet_withdrawn: ({ amount }) => [amount, -amount],
  hand_doubled: STAKED,
  hand_split: STAKED,
  insurance_bought: STAKED,
  hand_settled: SETTLED,
  insurance_settled: SETTLED,
  item_bought: ({ price }) => [-price, 0, price],
};

/** What a player brings to the stack, or takes away (−). */
const BROUGHT = {
  player_sat: ({ buy_in: chips }) => chips,
  chips_bought_in: ({ amount }) => amount,
  chips_cashed_out: ({ amount }) => -amount,
  player_left: ({ cash_out: chips }) => -chips,
  run_started: ({ stake }) => stake,
  run_ended: ({ bankroll }) => -bankroll,
};

/** What goes to a vault. */
const AT_VAULT = {
  chips_granted: ({ amount }) => amount,
  chips_taken_to_table: ({ amount }) => -amount,
  chips_brought_from_table: ({ amount }) => amount,
};

/** Whose chips an event moves: who has the seat, or whom it names, because nobody may have it. */
function playerOf({ seats }, { type, data }) {
  const named = type.startsWith("ledger.") || NAMING.includes(kindOf({ type }));
  return named ? data.player : seats.get(data.seat)?.player;
}

const NAMING = ["player_sat", "player_left", "run_started"];

/** The postings of an event, given the table before it: FORMAT.md has what moves by which event. */
function movedBy(table, { type, data }) {
  const kind = kindOf({ type });
  const seat = table.seats.get(data.seat);
  const player = playerOf(table, { type, data });
  const [stack, at] = [stackOf(table, player), `table/${table.name}`];
  let lines = [];
  if (Object.hasOwn(MOVES, kind)) {
    const [own, inPlay, bank = 0] = MOVES[kind](data);
    lines = [[stack, own], [`${at}/in_play`, inPlay], [`${at}/bank`, bank]];
  } else if (Object.hasOwn(BROUGHT, kind)) {
    const chips = BROUGHT[kind](data);
    const source = kind === "run_started" ? data.source : seat?.run?.source;
    lines = [[stack, chips], ["issuance", table.session || source === "grant" ? -chips : 0]];
  } else if (Object.hasOwn(AT_VAULT, kind)) {
    const chips = AT_VAULT[kind](data);
    lines = [["issuance", kind === "chips_granted" ? -chips : 0], [`player/${player}/vault`, chips]];
  }
  return lines.filter(([, amount]) => amount !== 0);
}

/** Posts what an event moved. What a vault had before is not known, and the bank may owe. */
function post(table, { postings }) {
  for (const [account, amount] of postings) {
    const left = (table.chips.get(account) ?? 0) + amount;
    table.chips.set(account, left);
    if (left < 0 && /^table\/.*\/(stack|in_play)$/.test(account)) {
      table.owed.push(`${account} was left with ${left} chips.`);
    }
  }
}

function fold(table, event) {
  const { data } = event;
  const seat = table.seats.get(data.seat);
  const bettor = table.bettors.get(data.seat);
  const hand = bettor?.hands[data.hand];
  const drawn = (card) => ({ card, place: (table.drawn += 1) - 1 });
  switch (kindOf(event)) {
    case "player_sat":
      take(table, data, null);
      break;
    case "run_started":
      take(table, data, { source: data.source });
      break;
    case "run_ended":
      seat.run = { ...seat.run, outcome: data.outcome };
      break;
    case "player_left":
      if (seat.player !== data.player) throw new Error(`${data.player} left the seat of ${seat.player}`);
      table.seats.delete(data.seat);
      break;
    case "bet_placed":
      if (table.closed) throw new Error("a bet was placed when the bets were closed");
      Object.assign(seat, { bet: data.amount, came: table.chips.get(stackOf(table, seat.player)) });
      break;
    case "bet_withdrawn":
      if (table.closed) throw new Error("a bet was withdrawn when the bets were closed");
      seat.bet = 0;
      break;
    case "round_opened":
      table.closed = true;
      break;
    case "hands_dealt":
      deal(table, data);
      break;
    case "modifier_applied":
      table.modified = true;
      break;
    case "card_dealt":
      hand.cards.push(drawn(data.card));
      break;
    case "card_redrawn":
      hand.cards.splice(-1, 1, drawn(data.card));
      break;
    case "hand_doubled":
      hand.stake += data.stake;
      break;
    case "hand_split":
      bettor.hands.splice(data.hand + 1, 0, { cards: [hand.cards.pop()], stake: data.stake });
      break;
    case "insurance_bought":
      bettor.insurance = { stake: data.stake };
      break;
    case "insurance_settled":
      bettor.insurance = { ...bettor.insurance, settled: data.stake, payout: data.payout };
      break;
    case "hand_settled":
      Object.assign(hand, { outcome: data.outcome, settled: data.stake, payout: data.payout });
      break;
    case "hole_card_revealed":
      table.dealer.push({ card: data.card, place: 2 * table.bettors.size + 1 });
      break;
    case "dealer_drew":
      table.dealer.push(...data.cards.map(drawn));
      break;
    default:
      if (!PASSING.includes(kindOf(event))) throw new Error(`${event.type} is no event of a round`);
  }
}

/** What changes neither a seat, nor a card, nor a stake. */
const PASSING = [
  ...["chips_bought_in", "chips_cashed_out", "computer_seated", "dealer_peeked", "hand_shielded"],
  ...["hand_stood", "host_moved", "insurance_declined", "insurance_offered", "item_bought"],
  ...["item_used", "player_leaving", "seat_sat_out", "seed_revealed"],
];

/** A player takes a free seat or, with a further run, keeps the own one. */
function take({ seats }, { seat, player }, run) {
  const taken = seats.get(seat);
  if (taken && !(run && taken.player === player)) throw new Error(`${player} took the seat of ${taken.player}`);
  seats.set(seat, newcomer(player, run));
}

/** Each seat that bet gets its hand. It keeps it when the player leaves and another takes the seat. */
function deal(table, { hands, upcard }) {
  const count = hands.length;
  const bets = [...table.seats].filter(([, { bet }]) => bet).map(([number]) => number);
  bets.sort((one, other) => one - other);
  const got = hands.map(([number]) => number);
  if (String(bets) !== String(got)) {
    throw new Error(`the seats ${bets} have bet, but the seats ${got} got cards`);
  }
  hands.forEach(([number, one, two], at) => {
    const seat = table.seats.get(number);
    const cards = [{ card: one, place: at }, { card: two, place: count + 1 + at }];
    seat.hands = [{ cards, stake: seat.bet }];
    table.bettors.set(number, seat);
  });
  table.dealer = [{ card: upcard, place: count }];
  table.drawn = 2 * count + 2;
}

/** What a hand adds up to where nothing changes how cards count: "16", "soft 17". */
export function totalOf(cards) {
  const worth = (card) => ("TJQK".includes(card[0]) ? 10 : card[0] === "A" ? 1 : Number(card[0]));
  const hard = cards.reduce((sum, card) => sum + worth(card), 0);
  const soft = cards.some((card) => card[0] === "A") && hard + 10 <= 21;
  if (!soft) return String(hard);
  return hard + 10 === 21 ? "21" : `soft ${hard + 10}`;
}
