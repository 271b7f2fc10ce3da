import { useEffect, useId } from 'preact/hooks';
import { useLoaded } from '../calls/run.ts';
import type { Form } from '../contract/form.ts';
import { ErrorNotice } from '../parts/notices.tsx';
import { session, useClient } from '../session/session.ts';

const path = 'user_id';
/** Newer users first. A key id selects the user of other keys. */
const maxUsers = 1_000;

/** The user of a budget, by name. */
export function UserField({ form }: { form: Form }) {
  const client = useClient();
  const id = useId();
  useEffect(() => form.show(path), [form]);
  const loaded = useLoaded((signal) => client.admin.users.list({ page_size: maxUsers }, { signal })).state
    .value;
  const own = session.value?.me.user;
  const listed = loaded.status === 'done' ? loaded.result.items : [];
  const users = own === undefined || listed.some((user) => user.id === own.id) ? listed : [own, ...listed];
  const value = form.get(path);
  const problem = form.problem(path);
  return (
    <div class="field">
      <label class="field-label" for={id}>
        User
      </label>
      <select
        id={id}
        class="input"
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-problem`}
        value={String(value)}
        onChange={(event) => form.set(path, Number(event.currentTarget.value))}
      >
        {users.map((user) => (
          <option key={user.id} value={String(user.id)}>
            {user.name} ({user.id})
          </option>
        ))}
      </select>
      {loaded.status === 'failed' && <ErrorNotice error={loaded.error} />}
      {problem && (
        <p class="field-error" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
