import { sessionModel, startSession } from '../../calls/start-session.ts';
import type { Handler } from '../../http/handler.ts';
import { checkCallbackUrl } from '../../tasks/callbacks/callback-url.ts';
import { viewSession } from './session-view.ts';

/** Starts a live-person check at a provider. */
export const createVerificationSession: Handler<'createVerificationSession'> = async (request, reply) => {
  const { body, gateway, caller } = request;
  gateway.access.require(caller, sessionModel);
  const { callback_url: url } = body;
  if (url !== undefined) checkCallbackUrl(url, 'callback_url', gateway.settings.callbacks);
  // The fragment is kept, because browser applications may use it.
  const session = await startSession(request, reply, url === undefined ? '' : new URL(url).href);
  reply.json(200, viewSession(session));
};
