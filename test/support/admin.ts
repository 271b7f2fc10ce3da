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

/** What an operation of the operator has answered with. */
export function dataOf<Data>(answer: HttpResponse): Data {
  expect(answer.status, answer.body.toString()).toBe(200);
  return (jsonOf(answer) as { data: Data }).data;
}

/** What the gateway under test answers to its admin. */
export async function asAdmin<Data>(id: OperationId, variation: Variation): Promise<Data> {
  return dataOf<Data>(await exchange(inject('gateway'), documented(id), variation));
}

export async function shownTask(id: string): Promise<AdminTask | undefined> {
  return (await asAdmin<{ items: AdminTask[] }>('searchTasks', { query: { id } })).items[0];
}

/** What was recorded of changes to something, the newest first. */
export async function changesOf(subject: string): Promise<Schemas['Change'][]> {
  return (await asAdmin<{ items: Schemas['Change'][] }>('listChanges', { query: { subject } })).items;
}
