import type { Attributes, Meter } from '@opentelemetry/api';

/** What there is to know of a metric before anything is measured. */
export interface Described {
  /** Dotted, by the semantic conventions where they have one; those of the gateway begin with `unigate.`. */
  name: string;
  /** UCUM: `s`, `By`, `1`; what is counted stands in braces, as in `{request}`. */
  unit: string;
  text: string;
  /** Names of all attributes that a value may have. */
  attributes?: readonly string[];
  /** What several workers of one gateway tell as one, where that is not their sum. */
  together?: 'most' | 'least';
}

/** One that values are told to where something happens. Before anybody reads it, that costs next to nothing. */
interface Told {
  readonly described: Described;
  readonly kind: 'histogram' | 'counter';
  /** Passes values on to a meter, until the function that it gives is called. */
  attach(meter: Meter): () => void;
}

/** Attributes that are numbers and texts only. */
export type Labels = Readonly<Record<string, number | string>>;

/** A value as it stands now, of one set of attributes. */
export type Reading = readonly [value: number, attributes?: Attributes];

/** From the fastest small call to the longest song, in seconds. */
const durations: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
];

/** How values are spread. */
export class Histogram implements Told {
  readonly kind = 'histogram';
  readonly described: Described;
  readonly #boundaries: readonly number[];
  readonly #sinks: { record(value: number, attributes?: Attributes): void }[] = [];

  /** `boundaries`: upper ends of the buckets; default: those for seconds. */
  constructor(described: Described, boundaries: readonly number[] = durations) {
    this.described = described;
    this.#boundaries = boundaries;
  }

  /** Whether anybody reads it, for what costs something to find out. */
  get read(): boolean {
    return this.#sinks.length > 0;
  }

  /** `attributes` are kept and compared: give the same object each time, and never what a client wrote. */
  record(value: number, attributes?: Attributes): void {
    for (const sink of this.#sinks) sink.record(value, attributes);
  }

  attach(meter: Meter): () => void {
    const { name, unit, text: description } = this.described;
    const advice = { explicitBucketBoundaries: [...this.#boundaries] };
    return join(this.#sinks, meter.createHistogram(name, { unit, description, advice }));
  }
}

/** What only grows. */
export class Counter implements Told {
  readonly kind = 'counter';
  readonly described: Described;
  readonly #sinks: { add(value: number, attributes?: Attributes): void }[] = [];

  constructor(described: Described) {
    this.described = described;
  }

  /** `attributes` as with `Histogram.record`. */
  add(value: number, attributes?: Attributes): void {
    for (const sink of this.#sinks) sink.add(value, attributes);
  }

  attach(meter: Meter): () => void {
    const { name, unit, text: description } = this.described;
    return join(this.#sinks, meter.createCounter(name, { unit, description }));
  }
}

/** What is asked for when somebody reads it. */
export class Gauge {
  readonly kind: 'gauge' | 'counter';
  readonly described: Described;
  readonly #sources = new Set<() => Iterable<Reading> | Promise<Iterable<Reading>>>();

  /** `counter`: it only grows. */
  constructor(described: Described, kind: 'gauge' | 'counter' = 'gauge') {
    this.described = described;
    this.kind = kind;
  }

  /** Has `source` asked from now on, until the function that it gives is called. */
  watch(source: () => Iterable<Reading> | Promise<Iterable<Reading>>): () => void {
    this.#sources.add(source);
    return () => this.#sources.delete(source);
  }

  attach(meter: Meter): () => void {
    const { name, unit, text: description } = this.described;
    const instrument =
      this.kind === 'counter'
        ? meter.createObservableCounter(name, { unit, description })
        : meter.createObservableGauge(name, { unit, description });
    const ask = async (result: { observe(value: number, attributes?: Attributes): void }) => {
      for (const source of this.#sources)
        for (const [value, attributes] of await source()) result.observe(value, attributes);
    };
    instrument.addCallback(ask);
    return () => instrument.removeCallback(ask);
  }
}

const none: Attributes = {};

/** What goes up and down. It is counted whether or not anybody reads it, so that a reader finds it right. */
export class Level {
  readonly kind = 'gauge';
  readonly described: Described;
  readonly #levels = new Map<Attributes, number>();

  constructor(described: Described) {
    this.described = described;
  }

  /** `attributes`: one object for one level. */
  add(change: 1 | -1, attributes: Attributes = none): void {
    this.#levels.set(attributes, (this.#levels.get(attributes) ?? 0) + change);
  }

  attach(meter: Meter): () => void {
    const gauge = new Gauge(this.described);
    gauge.watch(() => [...this.#levels].map(([attributes, level]) => [level, attributes]));
    return gauge.attach(meter);
  }
}

export type Instrument = Histogram | Counter | Gauge | Level;

function join<Sink>(sinks: Sink[], sink: Sink): () => void {
  sinks.push(sink);
  return () => void sinks.splice(sinks.indexOf(sink), 1);
}
