import type { Check, Report } from './report.ts';

/** An event of a run, as the contract defines the messages of the channel `conformanceRun`. */
export type RunEvent =
  | {
      type: 'run_started';
      base_url: string;
      /** Version of the contract. */
      contract: string;
      seed: number;
      /** Ids of the operations, in the order in which they are tested. */
      operations: readonly string[];
    }
  | { type: 'check_finished'; check: Check }
  | { type: 'check_waiting'; operation: string; check: string; seconds: number }
  | { type: 'run_finished'; report: Report }
  | { type: 'run_failed'; message: string };

/** Formats an event as a line of JSON. `mask` applies to each text, because it could break the syntax of a complete line. */
export const eventLine = (event: RunEvent, mask: (text: string) => string): string =>
  `${JSON.stringify(event, (_name, value: unknown) => (typeof value === 'string' ? mask(value) : value))}\n`;
