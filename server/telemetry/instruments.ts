import type { Attributes, Meter } from '@opentelemetry/api';

export interface MetricDescriptor {
  /** A name of the semantic conventions, or one that begins with `unigate.`. */
  name: string;
  /** UCUM: `s`, `By`, `1`, or the counted noun in braces, as in `{request}`. */
  unit: string;
  text: string;
  /** Names of all attributes. */
  attributes?: readonly string[];
  /** How the values of several workers of a gateway are combined. Default: their sum. */
  workerAggregation?: 'max' | 'min';
}

export type Labels = Readonly<Record<string, number | string>>;

export type Observation = readonly [value: number, attributes?: Attributes];

/** Seconds, from the fastest call to the longest music task. */
const durationBoundaries: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
];

/** Recording costs next to nothing while no meter is attached. */
export class Histogram {
  readonly kind = 'histogram';
  readonly descriptor: MetricDescriptor;
  readonly #boundaries: readonly number[];
  readonly #sinks: { record(value: number, attributes?: Attributes): void }[] = [];

  /** `boundaries`: upper ends of the buckets. */
  constructor(descriptor: MetricDescriptor, boundaries: readonly number[] = durationBoundaries) {
    this.descriptor = descriptor;
    this.#boundaries = boundaries;
  }

  /** Whether a meter is attached. Callers can skip expensive measurements otherwise. */
  get isEnabled(): boolean {
    return this.#sinks.length > 0;
  }

  /** Attributes are stored: pass the same object each time, and never client input. */
  record(value: number, attributes?: Attributes): void {
    for (const sink of this.#sinks) sink.record(value, attributes);
  }

  /** Sends values to a meter. Returns a function that stops it. */
  attach(meter: Meter): () => void {
    const { name, unit, text: description } = this.descriptor;
    const advice = { explicitBucketBoundaries: [...this.#boundaries] };
    return attachSink(this.#sinks, meter.createHistogram(name, { unit, description, advice }));
  }
}

/** A monotonic counter. */
export class Counter {
  readonly kind = 'counter';
  readonly descriptor: MetricDescriptor;
  readonly #sinks: { add(value: number, attributes?: Attributes): void }[] = [];

  constructor(descriptor: MetricDescriptor) {
    this.descriptor = descriptor;
  }

  /** `attributes` as with `Histogram.record`. */
  add(value: number, attributes?: Attributes): void {
    for (const sink of this.#sinks) sink.add(value, attributes);
  }

  attach(meter: Meter): () => void {
    const { name, unit, text: description } = this.descriptor;
    return attachSink(this.#sinks, meter.createCounter(name, { unit, description }));
  }
}

/** A value that callbacks observe at each scrape. */
export class Gauge {
  readonly kind: 'gauge' | 'counter';
  readonly descriptor: MetricDescriptor;
  readonly #callbacks = new Set<() => Iterable<Observation> | Promise<Iterable<Observation>>>();

  /** `counter`: the value is monotonic. */
  constructor(descriptor: MetricDescriptor, kind: 'gauge' | 'counter' = 'gauge') {
    this.descriptor = descriptor;
    this.kind = kind;
  }

  /** Calls `observe` at each scrape. Returns a function that removes it. */
  addCallback(observe: () => Iterable<Observation> | Promise<Iterable<Observation>>): () => void {
    this.#callbacks.add(observe);
    return () => this.#callbacks.delete(observe);
  }

  attach(meter: Meter): () => void {
    const { name, unit, text: description } = this.descriptor;
    const instrument =
      this.kind === 'counter'
        ? meter.createObservableCounter(name, { unit, description })
        : meter.createObservableGauge(name, { unit, description });
    const callback = async (result: { observe(value: number, attributes?: Attributes): void }) => {
      for (const observe of this.#callbacks)
        for (const [value, attributes] of await observe()) result.observe(value, attributes);
    };
    instrument.addCallback(callback);
    return () => instrument.removeCallback(callback);
  }
}

const none: Attributes = {};

/** A sum that can decrease. It counts without a meter, too, so that its first scrape is correct. */
export class UpDownCounter {
  readonly kind = 'gauge';
  readonly descriptor: MetricDescriptor;
  readonly #values = new Map<Attributes, number>();

  constructor(descriptor: MetricDescriptor) {
    this.descriptor = descriptor;
  }

  /** Attributes are compared by identity: pass the same object each time. */
  add(change: 1 | -1, attributes: Attributes = none): void {
    this.#values.set(attributes, (this.#values.get(attributes) ?? 0) + change);
  }

  attach(meter: Meter): () => void {
    const gauge = new Gauge(this.descriptor);
    gauge.addCallback(() => [...this.#values].map(([attributes, value]) => [value, attributes]));
    return gauge.attach(meter);
  }
}

export type Instrument = Histogram | Counter | Gauge | UpDownCounter;

function attachSink<Sink>(sinks: Sink[], sink: Sink): () => void {
  sinks.push(sink);
  return () => void sinks.splice(sinks.indexOf(sink), 1);
}
