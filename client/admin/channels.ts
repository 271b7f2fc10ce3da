import type { components, operations } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';
import { listPages, type PagePromise } from '../page-promise.ts';

type Schemas = components['schemas'];
export type Channel = Schemas['Channel'];
export type ChannelPage = Schemas['ChannelListReply']['data'];
export type ChannelQuery = NonNullable<operations['listChannels']['parameters']['query']>;
export type ChannelTest = Schemas['ChannelTestReply']['data'];

/** Channels to providers. */
export class Channels {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the channels with health and metrics, in the order of the configuration. `GET /api/admin/channels` */
  list(query: ChannelQuery = {}, options: CallOptions = {}): PagePromise<Channel, ChannelPage> {
    return listPages(query, async (params) => {
      return (await this.#caller.call('listChannels', { ...options, params: { query: params } })).data;
    });
  }

  /** Tests a channel with a small real call. `ok` is the result. `POST /api/admin/channels/{name}/test` */
  async test(name: string, options: CallOptions = {}): Promise<ChannelTest> {
    return (await this.#caller.call('testChannel', { ...options, params: { path: { name } } })).data;
  }

  /** Enables a channel. `POST /api/admin/channels/{name}/enable` */
  async enable(name: string, options: CallOptions = {}): Promise<Channel> {
    return (await this.#caller.call('enableChannel', { ...options, params: { path: { name } } })).data;
  }

  /** Disables a channel on all gateways. `POST /api/admin/channels/{name}/disable` */
  async disable(name: string, reason: string, options: CallOptions = {}): Promise<Channel> {
    const init = { ...options, params: { path: { name } }, body: { reason } };
    return (await this.#caller.call('disableChannel', init)).data;
  }
}
