import { visiblePages } from '../pages.ts';
import { Icon } from '../parts/icon.tsx';
import { addressOf, route } from './router.ts';

/** The navigation. On narrow screens it covers the page while it is open. */
export function Sidebar({ isOpen }: { isOpen: boolean }) {
  const groups = Map.groupBy(visiblePages.value, ({ group }) => group);
  return (
    <nav class="sidebar" aria-label="Console" data-open={isOpen}>
      {[...groups].map(([group, pages]) => (
        <div key={group} class="sidebar-group">
          <h2>{group}</h2>
          <ul>
            {pages.map(({ path, title, icon }) => (
              <li key={path}>
                <a href={addressOf(path)} aria-current={path === route.value.path ? 'page' : undefined}>
                  <Icon node={icon} />
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
