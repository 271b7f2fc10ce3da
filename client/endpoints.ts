import type { components, operations } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import { listPages, type PagePromise } from './page-promise.ts';

type Schemas = components['schemas'];
export type Endpoint = Schemas['Endpoint'];
export type EndpointWithSecret = Schemas['EndpointSecretReply']['data'];
export type EndpointList = Schemas['EndpointListReply']['data'];
export type EndpointRequest = Schemas['CreateEndpointRequest'];
export type EndpointUpdate = Schemas['UpdateEndpointRequest'];
export type EventDelivery = Schemas['EventDelivery'];
export type EventDeliveryPage = Schemas['EventDeliveryListReply']['data'];
export type EventDeliveryQuery = NonNullable<operations['listEndpointDeliveries']['parameters']['query']>;
export type SecretRotation = NonNullable<operations['rotateEndpointSecret']['parameters']['query']>;

/** The callback endpoints of the key's user, which receive events. A key with limits gets PermissionDeniedError. */
export class Endpoints {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists all endpoints, oldest first. `GET /api/me/endpoints` */
  async list(options: CallOptions = {}): Promise<EndpointList> {
    return (await this.#caller.call('listEndpoints', options)).data;
  }

  /** Creates an endpoint. Only this response and a rotation contain its secret. `POST /api/me/endpoints` */
  async create(body: EndpointRequest, options: CallOptions = {}): Promise<EndpointWithSecret> {
    // A retry after a lost response would create a second endpoint.
    return (await this.#caller.call('createEndpoint', { maxRetries: 0, ...options, body })).data;
  }

  /** Retrieves an endpoint. `GET /api/me/endpoints/{id}` */
  async retrieve(id: number, options: CallOptions = {}): Promise<Endpoint> {
    return (await this.#caller.call('getEndpoint', { ...options, params: { path: { id } } })).data;
  }

  /** Changes an endpoint. `PATCH /api/me/endpoints/{id}` */
  async update(id: number, body: EndpointUpdate, options: CallOptions = {}): Promise<Endpoint> {
    return (await this.#caller.call('updateEndpoint', { ...options, params: { path: { id } }, body })).data;
  }

  /** Deletes an endpoint with its deliveries. `DELETE /api/me/endpoints/{id}` */
  async delete(id: number, options: CallOptions = {}): Promise<void> {
    await this.#caller.call('deleteEndpoint', { ...options, params: { path: { id } } });
  }

  /** Replaces the secret. Both secrets sign for `overlap_seconds`. `POST /api/me/endpoints/{id}/secret` */
  async rotateSecret(
    id: number,
    query: SecretRotation = {},
    options: CallOptions = {},
  ): Promise<EndpointWithSecret> {
    const params = { path: { id }, query };
    // A retry after a lost response would end the oldest secret.
    return (await this.#caller.call('rotateEndpointSecret', { maxRetries: 0, ...options, params })).data;
  }

  /** Sends a test event. `POST /api/me/endpoints/{id}/test` */
  async test(id: number, options: CallOptions = {}): Promise<EventDelivery> {
    return (await this.#caller.call('testEndpoint', { ...options, params: { path: { id } } })).data;
  }

  /** Lists the deliveries to an endpoint, newest first. `GET /api/me/endpoints/{id}/deliveries` */
  deliveries(
    id: number,
    query: EventDeliveryQuery = {},
    options: CallOptions = {},
  ): PagePromise<EventDelivery, EventDeliveryPage> {
    return listPages(query, async (page) => {
      const params = { path: { id }, query: page };
      return (await this.#caller.call('listEndpointDeliveries', { ...options, params })).data;
    });
  }

  /** Resends an event now. `POST /api/me/endpoints/{id}/deliveries/{delivery_id}/resend` */
  async resend(id: number, deliveryId: number, options: CallOptions = {}): Promise<EventDelivery> {
    const params = { path: { id, delivery_id: deliveryId } };
    return (await this.#caller.call('resendEndpointDelivery', { ...options, params })).data;
  }
}
