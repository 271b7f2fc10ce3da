import { Coins, CornerDownRight, SlidersHorizontal, Trash2 } from 'lucide';
import type { Token } from '../../index.ts';
import { IconButton } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Time } from '../parts/numbers.tsx';
import { KeyLimits, KeyQuota, KeyStatus } from './key-facts.tsx';
import { treeOf } from './key-tree.ts';

/** Deeper keys are not indented further. */
const maxIndent = 5;

export type KeyAction = 'edit' | 'grant' | 'revoke';

interface KeyTableProps {
  tokens: readonly Token[];
  isAdmin?: boolean;
  /** Undefined: the keys have no buttons. */
  onAction?: (action: KeyAction, token: Token) => void;
}

/** Keys as a tree: each key is followed by those that were created with it. */
export function KeyTable({ tokens, isAdmin = false, onAction }: KeyTableProps) {
  return (
    <div class="table-scroll">
      <table class="table keys-table">
        <thead>
          <tr>
            <th>Key</th>
            <th>Status</th>
            <th>Quota</th>
            <th>Limits</th>
            <th>Created</th>
            {onAction && (
              <th>
                <span class="visually-hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {treeOf(tokens).map(({ key: token, depth }) => (
            <tr key={token.id}>
              <td style={{ '--depth': Math.min(depth, maxIndent) }}>
                <div class="key-name">
                  {depth > 0 && <Icon node={CornerDownRight} />}
                  <div>
                    <strong>{token.name}</strong>
                    <div class="muted">
                      <code>{token.key}</code>
                      {'user_name' in token && ` · ${String(token.user_name)}`}
                    </div>
                  </div>
                </div>
              </td>
              <td>
                <KeyStatus status={token.status} />
              </td>
              <td>
                <KeyQuota token={token} />
              </td>
              <td>
                <KeyLimits token={token} />
              </td>
              <td class="secondary">
                <Time at={token.created_time * 1_000} />
              </td>
              {onAction && (
                <td class="key-actions">
                  {isAdmin && token.session !== true && (
                    <>
                      <IconButton
                        icon={Coins}
                        label={`Grant quota to ${token.name}`}
                        onClick={() => onAction('grant', token)}
                      />
                      <IconButton
                        icon={SlidersHorizontal}
                        label={`Change the limits of ${token.name}`}
                        onClick={() => onAction('edit', token)}
                      />
                    </>
                  )}
                  <IconButton
                    icon={Trash2}
                    label={`Revoke ${token.name}`}
                    onClick={() => onAction('revoke', token)}
                  />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
