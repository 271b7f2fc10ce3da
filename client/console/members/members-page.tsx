import { useSignal } from '@preact/signals';
import type { Member, Token } from '../../index.ts';
import { CreateKey } from '../keys/create-key.tsx';
import { CreatedKey } from '../keys/created-key.tsx';
import { session, useClient } from '../session/session.ts';
import { PageHead } from '../shell/page-head.tsx';
import { Members } from './members.tsx';

/** The members of the user. Only a key of an owner sees them. */
export default function MembersPage() {
  const client = useClient();
  const me = session.value?.me;
  /** The member who receives a new key. */
  const receiver = useSignal<Member | undefined>(undefined);
  const created = useSignal<Token | undefined>(undefined);
  const keys = useSignal(0);
  return (
    <>
      <PageHead title="Members">
        The people and programs of {me?.user.name}. The role of a member sets the rights of all its keys.
      </PageHead>
      <Members
        calls={client.me.members}
        ownId={me?.member?.id}
        refreshKey={keys.value}
        onCreateKey={(member) => (receiver.value = member)}
      />
      {me && receiver.value !== undefined && (
        <CreateKey
          me={me}
          member={receiver.value}
          onClose={() => (receiver.value = undefined)}
          onCreated={(token) => {
            receiver.value = undefined;
            created.value = token;
            keys.value += 1;
          }}
        />
      )}
      {created.value !== undefined && (
        <CreatedKey token={created.value} onClose={() => (created.value = undefined)} />
      )}
    </>
  );
}
