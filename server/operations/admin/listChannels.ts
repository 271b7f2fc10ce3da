import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { success } from '../success.ts';
import { channelViewer } from './channel-view.ts';

/** Lists the channels in the order of the configuration. */
export const listChannels: Handler<'listChannels'> = async ({ gateway, query }, reply) => {
  // Another gateway may have disabled a channel since the last poll.
  await gateway.channelStates.refresh();
  const { offset, limit } = readPage(query);
  const all = gateway.channels.all;
  const items = all.slice(offset, offset + limit).map(await channelViewer(gateway));
  reply.json(200, success({ items, total: all.length }));
};
