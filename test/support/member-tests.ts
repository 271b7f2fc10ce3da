import { expect, inject, test } from 'vitest';
import type { Variation } from '../conformance/wire/exchange.ts';
import { dataOf } from './admin.ts';
import type { Call } from './contract.ts';
import { expectError } from './expectations.ts';
import { newMember } from './members.ts';
import { newToken, newUser } from './operator.ts';

// The operations on members behave the same for the operator, who names the user, and for a key of the user.

/** A new user, and the part of each request that determines whose members it concerns. */
export interface MemberScope {
  userId: number;
  path: { id?: string };
  headers: { authorization?: string };
}

export async function scopeOfOperator(): Promise<MemberScope> {
  const { id } = await newUser(inject('gateway'));
  return { userId: id, path: { id: String(id) }, headers: {} };
}

export async function scopeOfOwner(): Promise<MemberScope> {
  const { id } = await newUser(inject('gateway'));
  const { key } = await newToken(inject('gateway'), id, { unlimited_quota: true });
  return { userId: id, path: {}, headers: { authorization: `Bearer ${key}` } };
}

/** Invalid in a new member and in a change of one. */
export const invalidMemberFields = {
  'an unknown role': { body: { name: 'Ada', role: 'admin' }, field: 'role' },
  'an empty name': { body: { name: '', role: 'owner' }, field: 'name', limit: 1 },
  'a name of 65 characters': {
    body: { name: 'n'.repeat(65), role: 'owner' },
    field: 'name',
    limit: 64,
  },
};

export function testCreateMember(call: Call, newScope: () => Promise<MemberScope>): void {
  test('adds a member without keys', async () => {
    const { path, headers } = await newScope();
    const body = { name: 'Ada', role: 'developer' };
    expect(dataOf(await call({ path, headers, body }))).toEqual({
      id: expect.any(Number),
      name: 'Ada',
      role: 'developer',
      keys: 0,
      created_time: expect.any(Number),
    });
  });
}

export function testUpdateMember(call: Call, newScope: () => Promise<MemberScope>): void {
  const target = inject('gateway');
  test('changes a member of the user, and no other', async () => {
    const { userId, headers, ...scope } = await newScope();
    const member = await newMember(target, userId, { name: 'Ada', role: 'billing' });
    const path = { ...scope.path, member_id: String(member.id) };
    const changed = await call({ path, headers, body: { role: 'owner' } });
    expect(dataOf(changed)).toEqual({ ...member, role: 'owner' });
    const other = await newMember(target, (await newUser(target)).id);
    const foreign = { ...path, member_id: String(other.id) };
    expectError(await call({ path: foreign, headers, body: { name: 'x' } }), 404, { code: 'not_found' });
  });
}

export function testDeleteMember(call: Call, newScope: () => Promise<MemberScope>): void {
  const target = inject('gateway');
  test('removes a member of the user with its keys, and no other', async () => {
    const { userId, headers, ...scope } = await newScope();
    const member = await newMember(target, userId);
    const { key } = await newToken(target, userId, { unlimited_quota: true, member_id: member.id });
    const me = () => fetch(`${target.url}/api/me`, { headers: { authorization: `Bearer ${key}` } });
    expect((await me()).status).toBe(200);
    const other = await newMember(target, (await newUser(target)).id);
    const path = { ...scope.path, member_id: String(member.id) };
    const foreign = { ...path, member_id: String(other.id) };
    expectError(await call({ path: foreign, headers }), 404, { code: 'not_found' });
    expect((await call({ path, headers })).status).toBe(200);
    expect((await me()).status).toBe(401);
    expectError(await call({ path, headers }), 404, { code: 'not_found' });
  });
}

export function testListMembers(call: Call, newScope: () => Promise<MemberScope>): void {
  const target = inject('gateway');
  test('lists the members of the user, oldest first', async () => {
    const { userId, path, headers } = await newScope();
    await newMember(target, (await newUser(target)).id);
    const first = await newMember(target, userId, { name: 'Ada', role: 'owner' });
    const second = await newMember(target, userId, { name: 'Bo', role: 'billing' });
    expect(dataOf(await call({ path, headers }))).toEqual({ items: [first, second] });
  });
}

export function testMembersWithLimits(call: Call, variation: Variation = {}): void {
  test('refuses a key with limits', async () => {
    const target = inject('gateway');
    const { key } = await newToken(target, (await newUser(target)).id, { remain_quota: 5 });
    const headers = { authorization: `Bearer ${key}` };
    expectError(await call({ ...variation, headers }), 403, { code: 'access_denied' });
  });
}
