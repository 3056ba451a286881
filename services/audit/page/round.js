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
export const payout = (outcome, stake) => PAYS[outcome]?.(stake);

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
  const stream = `table-${tableOf(bundle)}`;
  return bundle.events.map((each) => each.event).filter((event) => event.subject === stream);
}

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
  return seats.map((seat) => shares.get(seat)).filter(Boolean);
}

/** The table after the round: the dealer's cards, and each seat with its hands as they ended. */
export function played(bundle) {
  const seats = new Map();
  const table = { dealer: [], seats, modified: false };
  bundle.before.seats.forEach((seat, at) => {
    if (seat) seats.set(at + 1, newcomer(seat.player));
  });
  table.modified = bundle.foundation[0].event.data.ruleset.environment?.length > 0;
  for (const event of eventsOf(bundle)) fold(table, event);
  return table;
}

const newcomer = (player) => ({ player, bet: 0, hands: [], insurance: null });

function fold(table, event) {
  const { data } = event;
  const seat = table.seats.get(data.seat);
  const hand = seat?.hands[data.hand];
  switch (kindOf(event)) {
    case "player_sat":
    case "run_started":
      if (seat?.player !== data.player) table.seats.set(data.seat, newcomer(data.player));
      break;
    case "bet_placed":
      seat.bet = data.amount;
      break;
    case "bet_withdrawn":
      seat.bet = 0;
      break;
    case "hands_dealt":
      table.dealer = [data.upcard];
      for (const [number, ...cards] of data.hands) {
        const bettor = table.seats.get(number);
        bettor.hands = [{ cards, stake: bettor.bet, doubled: false }];
      }
      break;
    case "modifier_applied":
      table.modified = true;
      break;
    case "card_dealt":
      hand.cards.push(data.card);
      break;
    case "card_redrawn":
      hand.cards.splice(-1, 1, data.card);
      break;
    case "hand_doubled":
      hand.stake += data.stake;
      hand.doubled = true;
      break;
    case "hand_split":
      seat.hands.splice(data.hand + 1, 0, { cards: [hand.cards.pop()], stake: data.stake });
      break;
    case "insurance_bought":
      seat.insurance = { stake: data.stake };
      break;
    case "insurance_settled":
      seat.insurance = { ...seat.insurance, settled: data.stake, payout: data.payout };
      break;
    case "hand_settled":
      Object.assign(hand, { outcome: data.outcome, settled: data.stake, payout: data.payout });
      break;
    case "hole_card_revealed":
      table.dealer.push(data.card);
      break;
    case "dealer_drew":
      table.dealer.push(...data.cards);
  }
}

/** What a hand adds up to where nothing changes how cards count: "16", "soft 17". */
export function totalOf(cards) {
  const worth = (card) => ("TJQK".includes(card[0]) ? 10 : card[0] === "A" ? 1 : Number(card[0]));
  const hard = cards.reduce((sum, card) => sum + worth(card), 0);
  const soft = cards.some((card) => card[0] === "A") && hard + 10 <= 21;
  if (!soft) return String(hard);
  return hard + 10 === 21 ? "21" : `soft ${hard + 10}`;
}
