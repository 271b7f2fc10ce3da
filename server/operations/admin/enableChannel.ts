import type { Handler } from '../../http/handler.ts';
import { channelNamed, shownChannel } from '../channel-view.ts';

/** Puts a channel back into the selection, with a clean slate here. */
export const enableChannel: Handler<'enableChannel'> = async ({ gateway, caller, path }, reply) => {
  const { name } = channelNamed(gateway, path.name);
  const change = {
    userId: caller.userId,
    tokenId: caller.tokenId,
    action: 'enableChannel',
    subject: `channel ${name}`,
    details: {},
    now: gateway.clock(),
  };
  await gateway.store.run('enableChannel', { channel: name, change });
  await gateway.channelStates.look();
  const channel = channelNamed(gateway, name);
  channel.health.restore();
  reply.json(200, { success: true, message: '', data: shownChannel(gateway, channel) });
};
