/** Usage of one request as its vendor metered it. */
export interface Metered {
  /** Quantities by the name of the figure in price rules. */
  figures: Readonly<Record<string, number>>;
  /** Fields of the request that decide which rate applies. */
  fields?: Readonly<Record<string, string | boolean>>;
}

/** A rate in thousandths of a quota unit for one of each figure. */
interface Rate {
  when?: Readonly<Record<string, string | boolean>>;
  per: Readonly<Record<string, number>>;
  /** In quota. */
  minimum?: number;
}

/** Rates by model. */
export type RateCard = Readonly<Record<string, readonly Rate[]>>;

/**
 * Returns the quota for what a vendor metered, times a ratio in thousandths, rounded up once. The second calculation beside that of
 * the gateway: in whole thousandths.
 */
export function chargeFor(card: RateCard, model: string, metered: Metered, ratio = 1_000): number {
  const rate = (card[model] ?? []).find(({ when = {} }) =>
    Object.entries(when).every(([field, value]) => metered.fields?.[field] === value),
  );
  if (rate === undefined) throw new Error(`${model} has no rate for ${JSON.stringify(metered)}`);
  const sum = Object.entries(rate.per).reduce(
    (total, [figure, price]) => total + BigInt(price) * BigInt(metered.figures[figure] ?? 0),
    0n,
  );
  const least = BigInt(rate.minimum ?? 0) * 1_000n;
  const scaled = (sum > least ? sum : least) * BigInt(ratio);
  return Number((scaled + 999_999n) / 1_000_000n);
}

/** Returns a rate card as the price rules of the configuration. */
export function priceRules(card: RateCard): Record<string, object[]> {
  return Object.fromEntries(
    Object.entries(card).map(([model, rates]) => [
      model,
      rates.map(({ per, ...rest }) => ({
        ...rest,
        per: Object.fromEntries(Object.entries(per).map(([figure, price]) => [figure, price / 1_000])),
      })),
    ]),
  );
}

export const models = {
  speech: 'alpha3-tts-flash',
  text: 'iota-chat-1',
  video: 'epsilon-delta-2-0-260128',
} as const;

/** Prices of the gateway before the price change, and from then on. */
export const salePrices: readonly [before: RateCard, after: RateCard] = [
  {
    [models.speech]: [{ per: { characters: 5_000 } }],
    [models.text]: [{ per: { input_tokens: 3_000, cached_tokens: 300, output_tokens: 15_000 }, minimum: 40 }],
    [models.video]: [
      { when: { resolution: '1080p' }, per: { completion_tokens: 1_450 } },
      { when: { resolution: '720p', audio: true }, per: { completion_tokens: 1_100 } },
      { when: { resolution: '720p' }, per: { completion_tokens: 900 } },
      { per: { completion_tokens: 750 } },
    ],
  },
  {
    [models.speech]: [{ per: { characters: 5_500 } }],
    [models.text]: [{ per: { input_tokens: 2_500, cached_tokens: 250, output_tokens: 18_000 }, minimum: 50 }],
    [models.video]: [
      { when: { resolution: '1080p' }, per: { completion_tokens: 1_500 } },
      { when: { audio: true }, per: { completion_tokens: 1_000 } },
      { per: { completion_tokens: 825 } },
    ],
  },
];

/** Rates of the vendors by channel. The backup vendor of speech charges more than the first one. */
export const vendorRates = {
  'speech-first': { [models.speech]: [{ per: { characters: 3_200 } }] },
  'speech-backup': { [models.speech]: [{ per: { characters: 4_100 } }] },
  text: { [models.text]: [{ per: { input_tokens: 1_900, cached_tokens: 190, output_tokens: 9_500 } }] },
  video: {
    [models.video]: [
      { when: { resolution: '1080p' }, per: { completion_tokens: 1_020 } },
      { when: { resolution: '720p' }, per: { completion_tokens: 640 } },
      { per: { completion_tokens: 510 } },
    ],
  },
} as const satisfies Record<string, RateCard>;

export type ChannelName = keyof typeof vendorRates;
