import type { Sunset } from './sunsets.ts';

/** A change of the contract. A major change can break a client of the previous contract. */
export interface Change {
  document: 'openapi' | 'asyncapi' | 'errors';
  /** A rule of `redocly diff`, or of this folder. */
  rule: string;
  severity: 'major' | 'minor' | 'patch';
  /** Pointer into the bundle, with names instead of array positions. For an error, its code. */
  at: string;
  /** Description of the change. */
  change: string;
  /** operationIds of the affected operations. */
  operations: readonly string[];
  /** Of a removed place that is deprecated. It decides whether the change is approved. */
  sunset?: Sunset;
}
