import type { Handler } from '../../http/handler.ts';
import { changeBy } from './admin-change.ts';
import { channelNamed, shownChannel } from './channel-view.ts';

/** Puts a channel back into the selection, with a clean slate here. */
export const enableChannel: Handler<'enableChannel'> = async ({ gateway, caller, path }, reply) => {
  const { name } = channelNamed(gateway, path.name);
  const change = {
    ...changeBy({ gateway, caller }, 'enableChannel'),
    subject: `channel ${name}`,
    details: {},
  };
  await gateway.store.run('enableChannel', { channel: name, change });
  await gateway.channelStates.refresh();
  const channel = channelNamed(gateway, name);
  channel.health.reset();
  reply.json(200, { success: true, message: '', data: await shownChannel(gateway, channel) });
};
