import type { components } from '../../generated/http.ts';
import type { Caller, CallOptions } from '../call.ts';
import type {
  Endpoint,
  EndpointList,
  EndpointWithSecret,
  EventDelivery,
  EventDeliveryPage,
  EventDeliveryQuery,
  SecretRotation,
} from '../endpoints.ts';
import { listPages, type PagePromise } from '../page-promise.ts';

type Schemas = components['schemas'];
export type AdminEndpointRequest = Schemas['CreateOperatorEndpointRequest'];
export type AdminEndpointUpdate = Schemas['UpdateOperatorEndpointRequest'];

/** The callback endpoints of the operator, which receive the events of all users and of channels. */
export class AdminEndpoints {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists all endpoints, oldest first. `GET /api/admin/endpoints` */
  async list(options: CallOptions = {}): Promise<EndpointList> {
    return (await this.#caller.call('listOperatorEndpoints', options)).data;
  }

  /** Creates an endpoint. Only this response and a rotation contain its secret. `POST /api/admin/endpoints` */
  async create(body: AdminEndpointRequest, options: CallOptions = {}): Promise<EndpointWithSecret> {
    // A retry after a lost response would create a second endpoint.
    return (await this.#caller.call('createOperatorEndpoint', { maxRetries: 0, ...options, body })).data;
  }

  /** Retrieves an endpoint. `GET /api/admin/endpoints/{id}` */
  async retrieve(id: number, options: CallOptions = {}): Promise<Endpoint> {
    return (await this.#caller.call('getOperatorEndpoint', { ...options, params: { path: { id } } })).data;
  }

  /** Changes an endpoint. `PATCH /api/admin/endpoints/{id}` */
  async update(id: number, body: AdminEndpointUpdate, options: CallOptions = {}): Promise<Endpoint> {
    return (await this.#caller.call('updateOperatorEndpoint', { ...options, params: { path: { id } }, body }))
      .data;
  }

  /** Deletes an endpoint with its deliveries. `DELETE /api/admin/endpoints/{id}` */
  async delete(id: number, options: CallOptions = {}): Promise<void> {
    await this.#caller.call('deleteOperatorEndpoint', { ...options, params: { path: { id } } });
  }

  /** Replaces the secret. Both secrets sign for `overlap_seconds`. `POST /api/admin/endpoints/{id}/secret` */
  async rotateSecret(
    id: number,
    query: SecretRotation = {},
    options: CallOptions = {},
  ): Promise<EndpointWithSecret> {
    const params = { path: { id }, query };
    // A retry after a lost response would end the oldest secret.
    return (await this.#caller.call('rotateOperatorEndpointSecret', { maxRetries: 0, ...options, params }))
      .data;
  }

  /** Sends a test event. `POST /api/admin/endpoints/{id}/test` */
  async test(id: number, options: CallOptions = {}): Promise<EventDelivery> {
    return (await this.#caller.call('testOperatorEndpoint', { ...options, params: { path: { id } } })).data;
  }

  /** Lists the deliveries to an endpoint, newest first. `GET /api/admin/endpoints/{id}/deliveries` */
  deliveries(
    id: number,
    query: EventDeliveryQuery = {},
    options: CallOptions = {},
  ): PagePromise<EventDelivery, EventDeliveryPage> {
    return listPages(query, async (page) => {
      const params = { path: { id }, query: page };
      return (await this.#caller.call('listOperatorEndpointDeliveries', { ...options, params })).data;
    });
  }

  /** Resends an event now. `POST /api/admin/endpoints/{id}/deliveries/{delivery_id}/resend` */
  async resend(id: number, deliveryId: number, options: CallOptions = {}): Promise<EventDelivery> {
    const params = { path: { id, delivery_id: deliveryId } };
    return (await this.#caller.call('resendOperatorEndpointDelivery', { ...options, params })).data;
  }
}
