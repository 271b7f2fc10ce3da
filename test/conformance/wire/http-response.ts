export interface Target {
  /** Base URL without a trailing slash. */
  url: string;
  key: string;
  /** True for a gateway, false for the mock. */
  isGateway?: boolean;
}

export interface HttpResponse {
  status: number;
  headers: Headers;
  body: Buffer;
}

/** Parses the body. @throws Error when it is not JSON */
export const jsonOf = ({ body }: HttpResponse): unknown => JSON.parse(body.toString('utf8'));

/** Parses the body. Undefined when it is not JSON. */
export function parsedBody(response: HttpResponse): unknown {
  if (!/\bjson\b/.test(response.headers.get('content-type') ?? '')) return undefined;
  try {
    return jsonOf(response);
  } catch {
    return undefined;
  }
}
