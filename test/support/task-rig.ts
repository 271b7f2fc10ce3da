import { systemTimers } from '../../server/lib/timers.ts';
import type { Settings } from '../../server/settings/settings.ts';
import type { Engine } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from './gateway.ts';
import { type RecordingUpstream, startUpstream } from './upstream.ts';

/** A gateway with a recording upstream and a clock that can be moved forward. */
export class TaskRig {
  #gateway: TestGateway | undefined;
  #upstream: RecordingUpstream | undefined;
  #skewMs = 0;

  get gateway(): TestGateway {
    if (this.#gateway === undefined) throw new Error('the rig is not started');
    return this.#gateway;
  }

  get upstream(): RecordingUpstream {
    if (this.#upstream === undefined) throw new Error('the rig is not started');
    return this.#upstream;
  }

  /** Starts the gateway. `settings` receives the URL of the upstream. */
  protected async open(
    response: Parameters<typeof startUpstream>[0],
    settings: (url: string) => Partial<Settings>,
    engine: Engine = 'sqlite',
  ): Promise<void> {
    this.#upstream = await startUpstream(response);
    const timers = { ...systemTimers, monotonic: () => systemTimers.monotonic() + this.#skewMs };
    const clock = () => Date.now() + this.#skewMs;
    this.#gateway = await startTestGateway(settings(this.#upstream.url), engine, clock, undefined, timers);
  }

  async close(): Promise<void> {
    await this.#gateway?.close();
    await this.#upstream?.close();
  }

  /** Moves the clock forward and runs all due tasks. */
  async pass(milliseconds: number): Promise<void> {
    this.#skewMs += milliseconds;
    await this.gateway.gateway.tasks.runDue();
  }
}
