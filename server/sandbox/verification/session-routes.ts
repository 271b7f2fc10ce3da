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
  /** Base URL of the server, without a trailing slash. */
  baseUrl: () => string;
}

/** Routes of identity verification sessions: creating and reading require the API key, the page does not. */
export function verificationRoutes({ sessions, baseUrl }: VerificationServices): Route[] {
  async function create(exchange: Exchange): Promise<void> {
    const request = new Parameters(await readJson(exchange.request), '');
    const callbackUrl = request.string('callback_url') ?? '';
    if (callbackUrl !== '' && !/^https?:\/\//i.test(URL.parse(callbackUrl)?.href ?? ''))
      throw request.invalid('callback_url', 'must be an http or https address');
    const triggers = findTriggers(callbackUrl, request.string('project_name'));
    await failOrHang(exchange, triggers);
    await sendCreated(exchange, triggers, formatSession(sessions.add(callbackUrl, triggers)));
  }

  async function read(exchange: Exchange): Promise<void> {
    const session = sessions.find(idFromPath(exchange));
    if (session === undefined || session.triggers.has('unknown'))
      throw new NativeError(404, 'NotFound.Session', 'The session does not exist');
    if (await applyPollTriggers(exchange, session)) return;
    sendJson(exchange, 200, formatSession(session));
  }

  function formatSession(session: Session): object {
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
        expires_at: formatTime(expiresAt),
        created_at: formatTime(createdAt),
        updated_at: formatTime(changedAt),
        ...(result && { result_code: result.code }),
      },
    };
  }

  const path = '/api/resource-channel/vendorx/visual-validate/sessions';
  return [
    { methods: ['POST'], path: new RegExp(`^${path}$`), handler: withErrorFormat(formatError, create) },
    { methods: ['GET'], path: new RegExp(`^${path}/[^/]+$`), handler: withErrorFormat(formatError, read) },
    ...pageRoutes(sessions),
  ];
}

function formatError({ message }: NativeError): object {
  return { success: false, message };
}

/** Formats a time as RFC 3339 with an offset. */
function formatTime(time: number): string {
  return new Date(time).toISOString().replace('Z', '+00:00');
}
