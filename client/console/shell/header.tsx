import type { Signal } from '@preact/signals';
import { LogOut, Menu, Moon, Search, Sun, X } from 'lucide';
import type { MeReply } from '../../index.ts';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { gatewayUrl, session, signOut } from '../session/session.ts';
import { isDark, toggleTheme } from './theme.ts';

const links = [
  { href: `${gatewayUrl}/docs`, title: 'Docs' },
  { href: `${gatewayUrl}/docs/reference`, title: 'API reference' },
  { href: `${gatewayUrl}/docs/models`, title: 'Models' },
];

/** The header that the console shares with the documentation. */
export function Header({ menu, onPalette }: { menu?: Signal<boolean>; onPalette?: () => void }) {
  return (
    <header class="header">
      {menu && (
        <span class="menu-button">
          <Button
            variant="plain"
            icon={menu.value ? X : Menu}
            label={menu.value ? 'Close the menu' : 'Open the menu'}
            onClick={() => (menu.value = !menu.value)}
          />
        </span>
      )}
      <a class="brand" href="#/">
        <Logo />
        Unigate
      </a>
      <nav class="header-links" aria-label="Product">
        {links.map(({ href, title }) => (
          <a key={href} href={href}>
            {title}
          </a>
        ))}
        <a href="#/" aria-current="true">
          Console
        </a>
      </nav>
      <div class="header-end">
        {onPalette && (
          <button type="button" class="button palette-button" onClick={onPalette}>
            <Icon node={Search} />
            <span>Search</span>
            <kbd>Ctrl K</kbd>
          </button>
        )}
        <Button
          variant="plain"
          icon={isDark.value ? Sun : Moon}
          label={isDark.value ? 'Switch to the light theme' : 'Switch to the dark theme'}
          onClick={toggleTheme}
        />
        {session.value && (
          <>
            <span class="header-key secondary">{nameOf(session.value.me)}</span>
            <Button variant="plain" icon={LogOut} label="Sign out" onClick={() => signOut()} />
          </>
        )}
      </div>
    </header>
  );
}

/** The person of a session, or the name of the key. */
const nameOf = ({ key, user, member }: MeReply) =>
  key.session === true ? (member?.name ?? user.name) : key.name;

function Logo() {
  return <img src={`${import.meta.env.BASE_URL}icon.svg`} width="24" height="24" alt="" />;
}
