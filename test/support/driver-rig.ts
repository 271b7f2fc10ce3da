import { afterAll, beforeAll, beforeEach } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import type { ChannelSettings } from '../../server/settings/settings.ts';
import { DriverError, type Upstream } from '../../server/tasks/driver.ts';
import { channelTo, type RecordingUpstream, type SeenRequest, startUpstream } from './upstream.ts';

/** An upstream with a configurable response and a channel to it, to test a driver without a gateway. */
export class DriverRig {
  /** Response to every request. Default: status 200 with an empty body. A string body is sent unchanged. */
  answer: { status?: number; headers?: Record<string, string>; body?: unknown } = {};
  #upstream: RecordingUpstream | undefined;
  readonly #channels: Channel[] = [];

  async start(change: Partial<ChannelSettings>): Promise<void> {
    this.#upstream = await startUpstream((_, response) => {
      const { status = 200, headers = {}, body = '' } = this.answer;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
    this.#channels.push(new Channel(channelTo(this.#upstream.url, change), Date.now));
  }

  async close(): Promise<void> {
    for (const channel of this.#channels) await channel.close();
    await this.#upstream?.close();
  }

  get seen(): SeenRequest[] {
    return this.#upstream?.seen ?? [];
  }

  /** Returns the upstream for a driver. `change` overrides settings of the channel. */
  to(change?: Partial<ChannelSettings>): Upstream {
    const [own] = this.#channels;
    if (own === undefined) throw new Error('the rig was not started');
    const signal = AbortSignal.timeout(60_000);
    if (change === undefined) return { channel: own, signal };
    const channel = new Channel({ ...own.settings, ...change }, Date.now);
    this.#channels.push(channel);
    return { channel, signal };
  }
}

/** Starts a rig before the tests of a file, and closes it after them. */
export function useDriverRig(change: Partial<ChannelSettings>): DriverRig {
  const rig = new DriverRig();
  beforeAll(() => rig.start(change));
  beforeEach(() => {
    rig.answer = {};
    rig.seen.length = 0;
  });
  afterAll(() => rig.close());
  return rig;
}

/** Returns the error that a driver throws. */
export async function driverErrorOf(action: Promise<unknown>): Promise<DriverError> {
  const error: unknown = await action.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof DriverError)) throw new Error('the driver threw no DriverError', { cause: error });
  return error;
}

/** Returns the kind of the error that a driver throws, and the failure that the client receives. */
export async function failureOf(action: Promise<unknown>) {
  const { kind, failure, failureKind: fault } = await driverErrorOf(action);
  return { kind, status: failure.status, code: failure.code, message: failure.message, fault };
}
