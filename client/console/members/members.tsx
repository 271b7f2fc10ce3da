import { useSignal } from '@preact/signals';
import { KeyRound, Pencil, Trash2, UserRound, UserRoundPlus } from 'lucide';
import type { Member } from '../../index.ts';
import { useLastResult, useLoaded } from '../calls/run.ts';
import { Button, IconButton } from '../parts/button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Badge, EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { formatCount, Time } from '../parts/numbers.tsx';
import { ScrollRegion } from '../parts/scroll-region.tsx';
import { TableHead } from '../parts/table-head.tsx';
import type { MemberCalls } from './member-calls.ts';
import { MemberDialog } from './member-dialog.tsx';

/** An open dialog and the member that it concerns. */
type Open = { name: 'create' } | { name: 'edit' | 'remove'; member: Member };

interface MembersProps {
  calls: MemberCalls;
  /** Id of the member who has the signed-in key. */
  ownId?: number | undefined;
  /** The list is loaded again when this changes. */
  refreshKey?: number;
  /** Creates a key for a member. It also follows the creation of a member, who has no key yet. */
  onCreateKey?: (member: Member) => void;
}

/** The members of a user: create, change and remove them. */
export function Members({ calls, ownId, refreshKey, onCreateKey }: MembersProps) {
  const open = useSignal<Open | undefined>(undefined);
  const reloads = useSignal(0);
  const run = useLoaded((signal) => calls.list({ signal }), `${reloads.value} ${refreshKey ?? 0}`);
  const state = run.state.value;
  const members = useLastResult(run);
  const close = () => (open.value = undefined);
  const reload = () => {
    close();
    reloads.value += 1;
  };
  const current = open.value;
  const createButton = (
    <Button variant="primary" icon={UserRoundPlus} onClick={() => (open.value = { name: 'create' })}>
      Add member
    </Button>
  );
  return (
    <div class="stack">
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
      {members === undefined && state.status !== 'failed' && <div class="skeleton list-skeleton" />}
      {members?.length === 0 && (
        <EmptyState icon={UserRound} title="There are no members yet.">
          <p>A developer calls models and manages own keys. A billing member reads usage and statements.</p>
          {createButton}
        </EmptyState>
      )}
      {members !== undefined && members.length > 0 && (
        <>
          <div class="row list-create">{createButton}</div>
          <ScrollRegion label="Members">
            <table class="table wrapped-names">
              <TableHead
                columns={[
                  'Name',
                  'Role',
                  { title: 'Keys', class: 'number' },
                  { title: 'Added', class: 'wide-only' },
                  { title: 'Actions', isHidden: true },
                ]}
              />
              <tbody>
                {members.map((member) => (
                  <tr key={member.id}>
                    <td>
                      <strong>{member.name}</strong> {member.id === ownId && <Badge tone="accent">you</Badge>}
                    </td>
                    <td>
                      <Badge>{member.role}</Badge>
                    </td>
                    <td class="number">{formatCount(member.keys)}</td>
                    <td class="wide-only secondary">
                      <Time isBrief at={member.created_time * 1_000} />
                    </td>
                    <td>
                      <div class="row-actions">
                        {onCreateKey && (
                          <IconButton
                            icon={KeyRound}
                            label={`Create a key for ${member.name}`}
                            onClick={() => onCreateKey(member)}
                          />
                        )}
                        <IconButton
                          icon={Pencil}
                          label={`Change ${member.name}`}
                          onClick={() => (open.value = { name: 'edit', member })}
                        />
                        <IconButton
                          icon={Trash2}
                          label={`Remove ${member.name}`}
                          onClick={() => (open.value = { name: 'remove', member })}
                        />
                      </div>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollRegion>
        </>
      )}
      {current?.name === 'create' && (
        <MemberDialog
          calls={calls}
          onClose={close}
          onSaved={(member) => {
            reload();
            onCreateKey?.(member);
          }}
        />
      )}
      {current?.name === 'edit' && (
        <MemberDialog calls={calls} member={current.member} onClose={close} onSaved={reload} />
      )}
      {current?.name === 'remove' && (
        <ConfirmDialog
          title={`Remove ${current.member.name}?`}
          label="Remove member"
          onClose={close}
          call={async (signal) => {
            await calls.delete(current.member.id, { signal });
            reload();
          }}
        >
          {consequencesFor(current.member, ownId)}
        </ConfirmDialog>
      )}
    </div>
  );
}

function consequencesFor({ id, keys }: Member, ownId: number | undefined): string {
  const count = keys === 1 ? 'The key' : `The ${formatCount(keys)} keys`;
  const isSignedIn = id === ownId ? ' You are signed in with such a key, and will be signed out.' : '';
  return keys === 0
    ? 'The member has no keys. This cannot be undone.'
    : `${count} of the member and all keys that were created with ${keys === 1 ? 'it' : 'them'} stop working at once.${isSignedIn} This cannot be undone.`;
}
