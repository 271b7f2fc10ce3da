import { createHash } from 'node:crypto';
import type { components } from '../../../generated/http.ts';
import type { VerificationSessionsTable } from '../../store/schema.ts';

/** Renders a verification session for its owner. */
export function viewSession(
  session: VerificationSessionsTable,
): components['schemas']['VerificationSessionReply'] {
  const { session_id, h5_link, callback_url, channel, status, group_id, result_code } = session;
  const result = { VendorToken: session_id, CallbackURL: callback_url, H5Link: h5_link };
  return {
    success: true,
    message: '',
    data: {
      session_id,
      vendor_token: session_id,
      h5_link,
      callback_url,
      channel_id: channelNumber(channel),
      status,
      group_id: group_id ?? '',
      raw_response: JSON.stringify({ Result: result }),
      expires_at: offsetTime(session.expires_at),
      created_at: offsetTime(session.created_at),
      updated_at: offsetTime(session.updated_at),
      ...(result_code !== null && { result_code }),
    },
  };
}

/** Derives a number below 2^31 from the name of a channel. It is the same on every gateway. */
function channelNumber(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32BE() >>> 1;
}

/** Formats a time as RFC 3339 with an offset, to the second. */
function offsetTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}+00:00`;
}
