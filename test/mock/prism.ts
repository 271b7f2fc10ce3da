import { createLogger } from '@stoplight/prism-core';
import { getHttpOperationsFromSpec } from '@stoplight/prism-http';
import { createServer } from '@stoplight/prism-http-server';

/** Without being told, Prism reads the schemas as draft 7 and overlooks or mistakes newer keywords. */
const jsonSchemaDialect = 'https://json-schema.org/draft/2020-12/schema';

export interface Prism {
  /** The documented answer to a request that has been checked already. */
  answer(request: {
    method: string;
    url: string;
    accept: string;
    prefer: string | undefined;
  }): Promise<Response>;
  close(): Promise<void>;
}

/** Prism behind the mock: it finds or makes up the answer that the OpenAPI document has for a request. */
export async function startPrism(contract: object): Promise<Prism> {
  const prism = createServer(await getHttpOperationsFromSpec({ ...contract, jsonSchemaDialect }), {
    cors: false,
    config: {
      isProxy: false,
      // The mock checks keys and requests as the gateway does; Prism would only say that something is wrong.
      checkSecurity: false,
      validateRequest: false,
      // What it sends are the contract's own examples, which the tests hold to their schemas.
      validateResponse: false,
      errors: false,
      upstreamProxy: undefined,
      mock: { dynamic: false },
    },
    components: { logger: createLogger('mock', { level: 'silent' }) },
  });
  const address = await prism.listen(0, '127.0.0.1');
  return {
    answer: ({ method, url, accept, prefer }) =>
      fetch(address + url, { method, headers: { accept, ...(prefer !== undefined && { prefer }) } }),
    close: () => prism.close(),
  };
}
