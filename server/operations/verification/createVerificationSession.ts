import { createWithFailover } from '../../calls/create-with-failover.ts';
import type { Channel } from '../../channels/channel.ts';
import type { Handler, OperationRequest } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { findModel } from '../../models/catalogue.ts';
import { startSession } from '../../providers/verification/sessions.ts';
import { Metering } from '../../quota/metering.ts';
import type { VerificationSessionsTable } from '../../store/schema.ts';
import { persist } from '../../store/store.ts';
import { checkCallbackUrl } from '../../tasks/callbacks/callback-url.ts';
import { shownSession } from './session-view.ts';

type Request = OperationRequest<'createVerificationSession'>;

/** What sessions are billed under: one action each. */
const model = findModel('vendorx_verification');

/**
 * Starts a live-person check at a provider. It is on disk and charged before it is answered, and once asked for it is
 * kept even if the client leaves.
 */
export const createVerificationSession: Handler<'createVerificationSession'> = async (request, reply) => {
  const { body, gateway, caller } = request;
  gateway.access.require(caller, model);
  const callbackUrl = body.callback_url === undefined ? '' : returnAddress(request, body.callback_url);
  const channels = gateway.channels.order(gateway.channels.serving('verification', model.id, caller.group));
  const session = await gateway.detachedCalls.run((signal) => start(request, channels, callbackUrl, signal));
  reply.json(200, shownSession(session));
};

/** @throws Failure 400 for what is no public web address */
function returnAddress({ gateway: { settings } }: Request, url: string): string {
  checkCallbackUrl(url, 'callback_url', settings.callbacks);
  // With its fragment, which applications in a browser may go by.
  return new URL(url).href;
}

async function start(
  request: Request,
  channels: readonly Channel[],
  callbackUrl: string,
  signal: AbortSignal,
): Promise<VerificationSessionsTable> {
  const { body, gateway, caller, requestId, startedAt } = request;
  const operation = 'createVerificationSession';
  const call = { requestId, caller, operation, model, expectedUnits: 1, startedAt };
  const metering = await Metering.open(gateway, call);
  let name = '';
  try {
    const sent = callbackUrl === '' ? body : { ...body, callback_url: callbackUrl };
    const asked = { user: caller.userId, model: model.id };
    const { channel, result: made } = await createWithFailover(gateway.logger, channels, asked, (one) => {
      name = one.name;
      return startSession({ channel: one, user: caller.userId, signal }, sent);
    });
    const now = gateway.clock();
    const session: VerificationSessionsTable = {
      session_id: made.sessionId,
      user_id: caller.userId,
      token_id: caller.tokenId,
      channel: channel.name,
      h5_link: made.h5Link,
      callback_url: callbackUrl,
      status: 'pending',
      group_id: null,
      upstream_group_id: null,
      result_code: null,
      created_at: now,
      updated_at: now,
      expires_at: now + made.lifetimeMs,
    };
    if (!(await persist(gateway.store, 'saveVerificationSession', session)))
      throw new Failure(502, 'bad_response', 'The provider gave out the id of a session that exists.');
    await metering.charge({ units: 1, inputTokens: 0, outputTokens: 0 }, { channel: name, status: 200 });
    return session;
  } catch (error) {
    const { status, code: errorCode } =
      error instanceof Failure ? error : { status: 500, code: 'internal_error' };
    await metering.refund({ channel: name, status, errorCode });
    throw error;
  }
}
