import type { components, operations } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';

type Schemas = components['schemas'];
export type Channel = Schemas['Channel'];
export type ChannelPage = Schemas['ChannelListReply']['data'];
export type ChannelQuery = NonNullable<operations['listChannels']['parameters']['query']>;
export type ChannelTest = Schemas['ChannelTestReply']['data'];

/** The accounts at providers. */
export class Channels {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** One page, with health and figures, in the order of the configuration. `GET /api/admin/channels` */
  async list(query: ChannelQuery = {}, options: CallOptions = {}): Promise<ChannelPage> {
    return (await this.#caller.call('listChannels', { ...options, params: { query } })).data;
  }

  /** Tries it with a small real call; `ok` tells how it went. `POST /api/admin/channels/{name}/test` */
  async test(name: string, options: CallOptions = {}): Promise<ChannelTest> {
    return (await this.#caller.call('testChannel', { ...options, params: { path: { name } } })).data;
  }

  /** Sends work to it again. `POST /api/admin/channels/{name}/enable` */
  async enable(name: string, options: CallOptions = {}): Promise<Channel> {
    return (await this.#caller.call('enableChannel', { ...options, params: { path: { name } } })).data;
  }

  /** Sends it no more work, on any gateway. `POST /api/admin/channels/{name}/disable` */
  async disable(name: string, reason: string, options: CallOptions = {}): Promise<Channel> {
    const init = { ...options, params: { path: { name } }, body: { reason } };
    return (await this.#caller.call('disableChannel', init)).data;
  }
}
