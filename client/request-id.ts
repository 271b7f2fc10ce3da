const requestIds = new WeakMap<object, string>();

/** Depth of the items in a list of a management response: the response, its data, the list and its items. */
const taggedDepth = 3;

/** Returns the gateway's id of a request from the response headers. */
export function headerRequestId(headers: Pick<Headers, 'get'>): string | undefined {
  return headers.get('x-request-id') ?? headers.get('request-id') ?? undefined;
}

/**
 * Returns the gateway's id of the request that returned a result: an object or a list of a method, one of its items, a
 * `Response`, a stream, or an error. Undefined for other objects, including copies of a result.
 *
 * @example const video = await client.videos.create(body); console.log(requestIdOf(video));
 */
export function requestIdOf(result: object): string | undefined {
  if ('headers' in result && result.headers instanceof Headers && !('requestId' in result))
    return headerRequestId(result.headers);
  if (result instanceof Headers) return headerRequestId(result);
  const stored = requestIds.get(result);
  if (stored !== undefined) return stored;
  return 'requestId' in result && typeof result.requestId === 'string' ? result.requestId : undefined;
}

/** Records the request id of the data of a response, and of the objects in it down to the items of a list. */
export function recordRequestId(data: unknown, requestId: string | undefined, depth = taggedDepth): void {
  if (requestId === undefined || typeof data !== 'object' || data === null) return;
  requestIds.set(data, requestId);
  if (depth === 0) return;
  for (const value of Object.values(data)) {
    // A list of numbers, such as an embedding, contains no objects.
    if (Array.isArray(data) && typeof value !== 'object') return;
    recordRequestId(value, requestId, depth - 1);
  }
}

/** Records the request id of one result for another that was made from it. */
export function copyRequestId<Result extends object>(source: object, result: Result): Result {
  const requestId = requestIds.get(source);
  if (requestId !== undefined) requestIds.set(result, requestId);
  return result;
}
