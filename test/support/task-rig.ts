import { systemTimers } from '../../server/lib/timers.ts';
import type { Settings } from '../../server/settings/settings.ts';
import type { Engine } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from './gateway.ts';
import { type RecordingUpstream, startUpstream } from './upstream.ts';

/** A gateway in front of a recording upstream, and a clock that can be set forward. */
export class TaskRig {
  #gateway: TestGateway | undefined;
  #upstream: RecordingUpstream | undefined;
  #skew = 0;

  get gateway(): TestGateway {
    if (this.#gateway === undefined) throw new Error('it is not started');
    return this.#gateway;
  }

  get upstream(): RecordingUpstream {
    if (this.#upstream === undefined) throw new Error('it is not started');
    return this.#upstream;
  }

  /** `settings` gets the upstream's address. */
  protected async open(
    answer: Parameters<typeof startUpstream>[0],
    settings: (url: string) => Partial<Settings>,
    engine: Engine = 'sqlite',
  ): Promise<void> {
    this.#upstream = await startUpstream(answer);
    const timers = { ...systemTimers, monotonic: () => systemTimers.monotonic() + this.#skew };
    const clock = () => Date.now() + this.#skew;
    this.#gateway = await startTestGateway(settings(this.#upstream.url), engine, clock, undefined, timers);
  }

  async close(): Promise<void> {
    await this.#gateway?.close();
    await this.#upstream?.close();
  }

  /** Sets the clock forward and lets everything happen that is due by then. */
  async pass(milliseconds: number): Promise<void> {
    this.#skew += milliseconds;
    await this.gateway.gateway.tasks.runDue();
  }
}
