import { effect, type Signal, signal } from '@preact/signals';
import type { ConformanceRequest, Unigate } from '../../index.ts';
import { Run } from '../calls/run.ts';
import { session } from '../session/session.ts';
import type { Check, Report } from './report.ts';

/** The results of a run so far. */
export interface Progress {
  baseUrl: string;
  /** Ids of the operations, in the order in which they are tested. */
  operations: readonly string[];
  checks: readonly Check[];
  /** A check that takes a long time. */
  waiting: string | undefined;
}

/** Interval at which the page shows new results. */
const refreshMs = 100;

/** The conformance run of this tab. It continues on other pages. */
export class LiveRun {
  readonly run = new Run<Report>();
  /** Undefined before the server has accepted the key. */
  readonly progress: Signal<Progress | undefined> = signal(undefined);

  constructor() {
    effect(() => {
      if (session.value !== undefined) return;
      this.run.reset();
      this.progress.value = undefined;
    });
  }

  /** Runs the conformance kit on the gateway of the client. Resolves at the end of the run. */
  async start(client: Unigate, body: ConformanceRequest): Promise<void> {
    this.progress.value = undefined;
    await this.run.start((stop) => this.#receive(client, body, stop));
  }

  async #receive(client: Unigate, body: ConformanceRequest, stop: AbortSignal): Promise<Report> {
    const checks: Check[] = [];
    let start: Pick<Progress, 'baseUrl' | 'operations'> | undefined;
    let waiting: string | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = () => {
      timer = undefined;
      if (start !== undefined && !stop.aborted)
        this.progress.value = { ...start, checks: [...checks], waiting };
    };
    try {
      for await (const event of client.admin.testConformance(body, { signal: stop, maxRetries: 0 })) {
        waiting = undefined;
        switch (event.type) {
          case 'run_started':
            start = { baseUrl: event.base_url, operations: event.operations };
            break;
          case 'check_finished':
            checks.push(event.check);
            break;
          case 'check_waiting':
            waiting = `${event.operation} ${event.check}, for ${event.seconds} s`;
            break;
          case 'run_finished':
            show();
            return event.report;
          case 'run_failed':
            throw new Error(event.message);
        }
        timer ??= setTimeout(show, refreshMs);
      }
      throw new Error('The connection ended before the report arrived.');
    } finally {
      clearTimeout(timer);
      show();
    }
  }
}

/** Counts of the checks of an operation, or of all. */
export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export const noCounts: Readonly<Counts> = { passed: 0, failed: 0, skipped: 0 };

/** Counts the outcomes of checks, in total and by operation. */
export function countOutcomes(checks: readonly Check[]): { total: Counts; byOperation: Map<string, Counts> } {
  const total = { ...noCounts };
  const byOperation = new Map<string, Counts>();
  for (const { operation, outcome } of checks) {
    const counts = byOperation.get(operation) ?? { ...noCounts };
    byOperation.set(operation, counts);
    counts[outcome] += 1;
    total[outcome] += 1;
  }
  return { total, byOperation };
}
