import { expect, inject } from 'vitest';
import type { components } from '../../generated/http.ts';
import type { OperationId } from '../../generated/operations.ts';
import { documented } from '../conformance/contract/documented.ts';
import { type Variation } from '../conformance/wire/exchange.ts';
import { type HttpResponse, jsonOf } from '../conformance/wire/http-response.ts';
import { exchange } from './exchange.ts';

type Schemas = components['schemas'];
export type AdminTask = Schemas['AdminTask'];
export type Delivery = Schemas['Delivery'];

/** Returns `data` of a successful response of an admin operation. */
export function dataOf<Data>(response: HttpResponse): Data {
  expect(response.status, response.body.toString()).toBe(200);
  return (jsonOf(response) as { data: Data }).data;
}

/** Calls an admin operation of the gateway under test. Returns `data` of the response. */
export async function callAsAdmin<Data>(id: OperationId, variation: Variation): Promise<Data> {
  return dataOf<Data>(await exchange(inject('gateway'), documented(id), variation));
}

/** Returns the task with an id, as the operator sees it. */
export async function findTask(id: string): Promise<AdminTask | undefined> {
  return (await callAsAdmin<{ items: AdminTask[] }>('searchTasks', { query: { id } })).items[0];
}

/** Returns the recorded changes of a subject, newest first. */
export async function listChangesOf(subject: string): Promise<Schemas['Change'][]> {
  return (await callAsAdmin<{ items: Schemas['Change'][] }>('listChanges', { query: { subject } })).items;
}
