import type { components } from '../../generated/http.ts';
import type { Target } from '../conformance/wire/http-response.ts';
import { callAdmin } from './operator.ts';

type Member = components['schemas']['Member'];

/** Adds a member to a user, by default a developer. */
export const newMember = (
  target: Target,
  userId: number,
  fields: { name?: string; role?: Member['role'] } = {},
): Promise<Member> =>
  callAdmin(target, 'createUserMember', {
    path: { id: String(userId) },
    body: { name: 'a member', role: 'developer', ...fields },
  });
