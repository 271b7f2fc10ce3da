/** What the error families have in common; a field that the body lacks is undefined. */
export interface ErrorFacts {
  code: string | undefined;
  message: string | undefined;
  requestId: string | undefined;
}

const LONGEST_TEXT = 500;

/**
 * Reads the body of every error family:
 * generic `{error: {code, message, request_id}}`, messages `{type: 'error', error: {type, …}, request_id}`,
 * native `{code, message, request_id}` and management `{success: false, message}`. A body that is not JSON, such as
 * a proxy's page, becomes the message, cut to 500 characters.
 */
export function readErrorBody(body: unknown): ErrorFacts {
  if (typeof body === 'string') {
    const text = body.trim();
    return { code: undefined, message: text ? text.slice(0, LONGEST_TEXT) : undefined, requestId: undefined };
  }
  const outer = record(body);
  const inner = 'error' in outer && typeof outer.error === 'object' ? record(outer.error) : outer;
  return {
    code: word(inner.code) ?? word(inner === outer ? undefined : inner.type),
    message: word(inner.message) ?? word(outer.error),
    requestId: word(inner.request_id) ?? word(outer.request_id),
  };
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function word(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
