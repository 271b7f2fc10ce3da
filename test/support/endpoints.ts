import { onTestFinished } from 'vitest';
import type { components } from '../../generated/http.ts';
import type { OperationId } from '../../generated/operations.ts';
import { callAsAdmin } from './admin.ts';

export type CreatedEndpoint = components['schemas']['EndpointSecretReply']['data'];
export type EndpointOwner = 'user' | 'operator';

export const endpointOperations = {
  user: {
    create: 'createEndpoint',
    update: 'updateEndpoint',
    remove: 'deleteEndpoint',
    test: 'testEndpoint',
    listDeliveries: 'listEndpointDeliveries',
  },
  operator: {
    create: 'createOperatorEndpoint',
    update: 'updateOperatorEndpoint',
    remove: 'deleteOperatorEndpoint',
    test: 'testOperatorEndpoint',
    listDeliveries: 'listOperatorEndpointDeliveries',
  },
} as const satisfies Record<EndpointOwner, Record<string, OperationId>>;

export const endpointFields = { url: 'https://app.example/events', events: ['task.stuck'] };

/** Creates a callback endpoint at an address that does not exist. The end of the test deletes it. */
export async function newEndpoint(owner: EndpointOwner): Promise<CreatedEndpoint> {
  const body = { ...endpointFields, url: 'https://nowhere.invalid/events' };
  const endpoint = await callAsAdmin<CreatedEndpoint>(endpointOperations[owner].create, { body });
  deleteAfterTest(owner, endpoint);
  return endpoint;
}

export function deleteAfterTest(owner: EndpointOwner, { id }: CreatedEndpoint): void {
  onTestFinished(async () => {
    await callAsAdmin(endpointOperations[owner].remove, { path: { id: String(id) } });
  });
}
