import { type Exchange, type Route, sendJson } from '../http/exchange.ts';
import { readJson } from '../http/json-body.ts';
import { NativeError } from '../http/native-error.ts';
import { Parameters } from '../native/parameters.ts';
import { applyPollTriggers, idFromPath, sendCreated, withErrorFormat } from '../tasks/protocol.ts';
import { failOrHang } from '../triggered-errors.ts';
import { findTriggers } from '../triggers.ts';
import { pagePath, pageRoutes } from './page-routes.ts';
import type { Session, VerificationSessions } from './sessions.ts';

interface VerificationServices {
  sessions: VerificationSessions;
  /** Address of the server, without a slash at the end. */
  baseUrl: () => string;
}

/** Live-person checks: made and read with the key, decided on a page without it. */
export function verificationRoutes({ sessions, baseUrl }: VerificationServices): Route[] {
  async function create(exchange: Exchange): Promise<void> {
    const request = new Parameters(await readJson(exchange.request), '');
    const callbackUrl = request.string('callback_url') ?? '';
    if (callbackUrl !== '' && !/^https?:\/\//i.test(URL.parse(callbackUrl)?.href ?? ''))
      throw request.invalid('callback_url', 'must be an http or https address');
    const triggers = findTriggers(callbackUrl, request.string('project_name'));
    await failOrHang(exchange, triggers);
    await sendCreated(exchange, triggers, shown(sessions.add(callbackUrl, triggers)));
  }

  async function read(exchange: Exchange): Promise<void> {
    const session = sessions.find(idFromPath(exchange));
    if (session === undefined || session.triggers.has('unknown'))
      throw new NativeError(404, 'NotFound.Session', 'There is no such session');
    if (await applyPollTriggers(exchange, session)) return;
    sendJson(exchange, 200, shown(session));
  }

  function shown(session: Session): object {
    const { id, callbackUrl, createdAt, expiresAt, result } = session;
    const h5Link = `${baseUrl()}${pagePath}?token=${id}`;
    const status = sessions.statusOf(session);
    const raw = {
      ResponseMetadata: { Action: 'CreateVisualValidateSession', Service: 'sandbox', RequestId: id },
      Result: { VendorToken: id, CallbackURL: callbackUrl, H5Link: h5Link },
    };
    const changedAt = result?.at ?? (status === 'expired' ? expiresAt : createdAt);
    return {
      success: true,
      message: '',
      data: {
        session_id: id,
        vendor_token: id,
        h5_link: h5Link,
        callback_url: callbackUrl,
        channel_id: 1,
        status,
        group_id: result?.groupId ?? '',
        raw_response: JSON.stringify(raw),
        expires_at: offsetTime(expiresAt),
        created_at: offsetTime(createdAt),
        updated_at: offsetTime(changedAt),
        ...(result && { result_code: result.code }),
      },
    };
  }

  const path = '/api/resource-channel/vendorx/visual-validate/sessions';
  return [
    { methods: ['POST'], path: new RegExp(`^${path}$`), handler: withErrorFormat(sessionError, create) },
    { methods: ['GET'], path: new RegExp(`^${path}/[^/]+$`), handler: withErrorFormat(sessionError, read) },
    ...pageRoutes(sessions),
  ];
}

function sessionError({ message }: NativeError): object {
  return { success: false, message };
}

/** RFC 3339 with an offset. */
function offsetTime(time: number): string {
  return new Date(time).toISOString().replace('Z', '+00:00');
}
