import { Ban, ChartColumn, CircleCheck, KeyRound, List, Pencil, ReceiptText } from 'lucide';
import type { Account } from '../../index.ts';
import { IconButton } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Badge } from '../parts/notices.tsx';
import { formatCount, Time } from '../parts/numbers.tsx';
import { Quota } from '../parts/quota.tsx';
import { ScrollRegion } from '../parts/scroll-region.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { addressOf } from '../shell/router.ts';

interface AccountTableProps {
  accounts: readonly Account[];
  onShowKeys: (account: Account) => void;
  onCreateKey: (account: Account) => void;
  onChange: (account: Account) => void;
  onDisable: (account: Account) => void;
  onEnable: (account: Account) => void;
}

/** The sub-accounts with their spending. */
export function AccountTable({
  accounts,
  onShowKeys,
  onCreateKey,
  onChange,
  onDisable,
  onEnable,
}: AccountTableProps) {
  return (
    <ScrollRegion label="Accounts">
      <table class="table wrapped-names">
        <TableHead
          columns={[
            'Name',
            { title: 'Spent', class: 'number' },
            { title: 'Keys', class: 'number wide-only' },
            { title: 'Group', class: 'wide-only' },
            { title: 'Created', class: 'wide-only' },
            { title: 'Actions', isHidden: true },
          ]}
        />
        <tbody>
          {accounts.map((account) => (
            <tr key={account.id}>
              <td>
                <strong>{account.name}</strong> {account.disabled && <Badge tone="danger">disabled</Badge>}
              </td>
              <td class="number">
                <Quota amount={account.used_quota} hasNoUnit />
              </td>
              <td class="number wide-only">{formatCount(account.keys)}</td>
              <td class="wide-only">{account.group}</td>
              <td class="wide-only secondary">
                <Time isBrief at={account.created_time * 1_000} />
              </td>
              <td>
                <div class="row-actions">
                  <IconLink icon={ChartColumn} page="usage" account={account} />
                  <IconLink icon={ReceiptText} page="statements" account={account} />
                  <IconButton
                    icon={List}
                    label={`Keys of ${account.name}`}
                    onClick={() => onShowKeys(account)}
                  />
                  <IconButton
                    icon={KeyRound}
                    label={`Create a key for ${account.name}`}
                    onClick={() => onCreateKey(account)}
                  />
                  <IconButton
                    icon={Pencil}
                    label={`Rename ${account.name}`}
                    onClick={() => onChange(account)}
                  />
                  <IconButton
                    icon={account.disabled ? CircleCheck : Ban}
                    label={`${account.disabled ? 'Enable' : 'Disable'} ${account.name}`}
                    onClick={() => (account.disabled ? onEnable : onDisable)(account)}
                  />
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

interface IconLinkProps {
  icon: Parameters<typeof Icon>[0]['node'];
  page: 'usage' | 'statements';
  account: Account;
}

/** A link to a page that shows one account. */
function IconLink({ icon, page, account: { id, name } }: IconLinkProps) {
  const label = `${page === 'usage' ? 'Usage' : 'Statements'} of ${name}`;
  return (
    <a
      class="button button-plain button-small button-icon"
      href={addressOf(page, { account: String(id) })}
      aria-label={label}
      title={label}
    >
      <Icon node={icon} />
    </a>
  );
}
