import { afterAll, beforeAll, beforeEach } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import type { ChannelSettings } from '../../server/settings/settings.ts';
import { DriverError, type Upstream } from '../../server/tasks/driver.ts';
import { channelTo, type RecordingUpstream, type SeenRequest, startUpstream } from './upstream.ts';

/** An upstream that answers as told, and a channel to it, for a driver without a gateway around it. */
export class DriverRig {
  /** What every request is answered with: status 200 and nothing, unless it says so; a text is sent as it stands. */
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

  /** The upstream as a driver is given it; with `change`, over a channel with other settings. */
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

/** A rig for the tests of a file. */
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

/** The error that a driver ends with. */
export async function thrownBy(action: Promise<unknown>): Promise<DriverError> {
  const error: unknown = await action.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof DriverError)) throw new Error('there was no error of the driver', { cause: error });
  return error;
}

/** What it says of the attempt, and what the client gets for it. */
export async function toldBy(action: Promise<unknown>) {
  const { kind, failure, failureKind: fault } = await thrownBy(action);
  return { kind, status: failure.status, code: failure.code, message: failure.message, fault };
}
