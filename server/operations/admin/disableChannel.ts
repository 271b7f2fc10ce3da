import type { Handler } from '../../http/handler.ts';
import { changeBy } from './admin-change.ts';
import { channelNamed, shownChannel } from './channel-view.ts';

/** Takes a channel out of the selection, here at once, on other gateways within a second. */
export const disableChannel: Handler<'disableChannel'> = async ({ gateway, caller, path, body }, reply) => {
  const { name } = channelNamed(gateway, path.name);
  const { reason } = body;
  const change = {
    ...changeBy({ gateway, caller }, 'disableChannel'),
    subject: `channel ${name}`,
    details: { reason },
  };
  await gateway.store.run('disableChannel', { channel: name, reason, change });
  await gateway.channelStates.refresh();
  reply.json(200, {
    success: true,
    message: '',
    data: await shownChannel(gateway, channelNamed(gateway, name)),
  });
};
