export interface Target {
  /** Address without a slash at the end. */
  url: string;
  key: string;
  /** A gateway, not the mock. */
  isGateway?: boolean;
}

export interface Answer {
  status: number;
  headers: Headers;
  body: Buffer;
}

/** @throws Error when the body is not JSON. */
export const jsonOf = ({ body }: Answer): unknown => JSON.parse(body.toString('utf8'));
