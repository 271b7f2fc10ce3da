import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';
import { channelViewer, findChannel } from './channel-view.ts';

/** Includes a disabled channel in selection again, and resets its health on this gateway. */
export const enableChannel: Handler<'enableChannel'> = async ({ gateway, caller, path }, reply) => {
  const { name } = findChannel(gateway, path.name);
  const by = changeBy({ gateway, caller }, 'enableChannel');
  const change = { ...by, subject: `channel ${name}`, details: {} };
  await gateway.store.run('enableChannel', { channel: name, change });
  await gateway.channelStates.refresh();
  const channel = findChannel(gateway, name);
  channel.health.reset();
  const view = await channelViewer(gateway);
  reply.json(200, success(view(channel)));
};
