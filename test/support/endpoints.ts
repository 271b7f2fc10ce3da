import { onTestFinished } from 'vitest';
import type { components } from '../../generated/http.ts';
import { callAsAdmin } from './admin.ts';

export type CreatedEndpoint = components['schemas']['EndpointSecretReply']['data'];

/** Creates a callback endpoint at an address that does not exist. The end of the test deletes it. */
export async function newEndpoint(
  operation: 'createEndpoint' | 'createOperatorEndpoint',
): Promise<CreatedEndpoint> {
  const body = { url: 'https://nowhere.invalid/events', events: ['task.stuck'] };
  const endpoint = await callAsAdmin<CreatedEndpoint>(operation, { body });
  const remove = operation === 'createEndpoint' ? 'deleteEndpoint' : 'deleteOperatorEndpoint';
  onTestFinished(async () => {
    await callAsAdmin(remove, { path: { id: String(endpoint.id) } });
  });
  return endpoint;
}
