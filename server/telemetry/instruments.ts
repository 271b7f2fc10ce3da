import type { Attributes, Meter } from '@opentelemetry/api';

interface InstrumentOptions {
  /** Names of all attributes. */
  readonly attributes?: readonly string[];
  /** How the values of several workers of a gateway are combined. Default: their sum. */
  readonly workerAggregation?: 'max' | 'min';
}

interface MetricDescriptor extends InstrumentOptions {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
}

export type Labels = Readonly<Record<string, number | string>>;

type Observation = readonly [value: number, attributes?: Attributes];

type Observe = () => Iterable<Observation> | Promise<Iterable<Observation>>;

const registered: Instrument[] = [];

/** All instruments, in the order of their construction. */
export const allMetrics: readonly Instrument[] = registered;

abstract class Instrument {
  abstract readonly kind: 'histogram' | 'counter' | 'gauge';
  readonly descriptor: MetricDescriptor;

  /**
   * @param name a name of the semantic conventions, or one that begins with `unigate.`
   * @param unit UCUM: `s`, `By`, `1`, or the counted noun in braces, as in `{request}`
   */
  constructor(name: string, unit: string, description: string, options: InstrumentOptions = {}) {
    this.descriptor = { name, unit, description, ...options };
    registered.push(this);
  }

  /** Sends values to a meter. Returns a function that stops it. */
  abstract attach(meter: Meter): () => void;
}

/** Sends each value to all attached meters. Costs next to nothing without a meter. */
abstract class Recorder extends Instrument {
  readonly #sinks = new Set<(value: number, attributes?: Attributes) => void>();

  /** Whether a meter is attached. Callers can skip expensive measurements otherwise. */
  get isEnabled(): boolean {
    return this.#sinks.size > 0;
  }

  protected send(value: number, attributes: Attributes | undefined): void {
    for (const sink of this.#sinks) sink(value, attributes);
  }

  protected addSink(sink: (value: number, attributes?: Attributes) => void): () => void {
    this.#sinks.add(sink);
    return () => this.#sinks.delete(sink);
  }
}

/** Seconds, from the fastest call to the longest music task. */
const durationBoundaries: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
];

export class Histogram extends Recorder {
  readonly kind = 'histogram';
  readonly #boundaries: readonly number[];

  /** `boundaries`: upper ends of the buckets. */
  constructor(
    name: string,
    unit: string,
    description: string,
    {
      boundaries = durationBoundaries,
      ...options
    }: InstrumentOptions & { boundaries?: readonly number[] } = {},
  ) {
    super(name, unit, description, options);
    this.#boundaries = boundaries;
  }

  /** Each set of attributes is stored, so it must never contain client input. */
  record(value: number, attributes?: Attributes): void {
    this.send(value, attributes);
  }

  override attach(meter: Meter): () => void {
    const advice = { explicitBucketBoundaries: [...this.#boundaries] };
    const histogram = meter.createHistogram(this.descriptor.name, { ...this.descriptor, advice });
    return this.addSink((value, attributes) => histogram.record(value, attributes));
  }
}

/** A monotonic counter. */
export class Counter extends Recorder {
  readonly kind = 'counter';

  /** `attributes` as with `Histogram.record`. */
  add(value: number, attributes?: Attributes): void {
    this.send(value, attributes);
  }

  override attach(meter: Meter): () => void {
    const counter = meter.createCounter(this.descriptor.name, this.descriptor);
    return this.addSink((value, attributes) => counter.add(value, attributes));
  }
}

/** A value that callbacks observe at each scrape. */
export class Gauge extends Instrument {
  readonly kind: 'gauge' | 'counter' = 'gauge';
  readonly #callbacks = new Set<Observe>();

  /** Calls `observe` at each scrape. Returns a function that removes it. */
  addCallback(observe: Observe): () => void {
    this.#callbacks.add(observe);
    return () => this.#callbacks.delete(observe);
  }

  override attach(meter: Meter): () => void {
    const { name } = this.descriptor;
    const instrument =
      this.kind === 'counter'
        ? meter.createObservableCounter(name, this.descriptor)
        : meter.createObservableGauge(name, this.descriptor);
    const callback = async (result: { observe(value: number, attributes?: Attributes): void }) => {
      for (const observe of this.#callbacks)
        for (const [value, attributes] of await observe()) result.observe(value, attributes);
    };
    instrument.addCallback(callback);
    return () => instrument.removeCallback(callback);
  }
}

/** A monotonic value that callbacks observe at each scrape. */
export class ObservableCounter extends Gauge {
  override readonly kind = 'counter';
}

const none: Attributes = {};

/** A sum that can decrease. It also counts without a meter, so that its first scrape is correct. */
export class UpDownCounter extends Gauge {
  readonly #values = new Map<Attributes, number>();

  constructor(...descriptor: ConstructorParameters<typeof Gauge>) {
    super(...descriptor);
    this.addCallback(() => [...this.#values].map(([attributes, value]) => [value, attributes]));
  }

  /** Attributes are compared by identity: pass the same object each time. */
  add(change: 1 | -1, attributes: Attributes = none): void {
    this.#values.set(attributes, (this.#values.get(attributes) ?? 0) + change);
  }
}
