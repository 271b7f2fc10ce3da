import type { Handler } from '../../http/handler.ts';
import { readPage } from '../../http/read-page.ts';
import { shownChannels } from './channel-view.ts';

/** The channels in the order of the configuration. */
export const listChannels: Handler<'listChannels'> = async ({ gateway, query }, reply) => {
  // As it is on every gateway now, and not half a second ago.
  await gateway.channelStates.refresh();
  const { offset, limit } = readPage(query);
  const all = gateway.channels.all;
  const items = await shownChannels(gateway, all.slice(offset, offset + limit));
  reply.json(200, { success: true, message: '', data: { items, total: all.length } });
};
