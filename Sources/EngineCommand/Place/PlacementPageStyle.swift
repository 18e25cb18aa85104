/// What the placement page looks like, and how it behaves.
enum PlacementPageStyle {
    static let css = """
        :root { --bg: #f6f7f9; --card: #fff; --text: #1c2430; --dim: #697586; --line: #d5dbe3; --edge: #a8b3c2;
          --cpu: #4271c4; --gpu: #23976b; --accelerator: #c9771b; --other: #8a55b5; --hot: #d7443e; }
        @media (prefers-color-scheme: dark) { :root { --bg: #14181f; --card: #1d232d; --text: #e4e9f0; --dim: #93a0b1;
          --line: #323b49; --edge: #55617299; --cpu: #6a98e8; --gpu: #45bd90; --accelerator: #e29a45; --other: #b287d8; } }
        * { box-sizing: border-box; }
        body { margin: 0; padding: 20px 28px 60px; background: var(--bg); color: var(--text);
          font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
        header { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: baseline; margin-bottom: 14px; }
        h1 { font-size: 21px; margin: 0; } h3 { margin: 18px 0 6px; font-size: 14px; color: var(--dim); }
        .tab { border: 1px solid var(--line); background: var(--card); color: inherit; border-radius: 6px; padding: 3px 12px;
          margin-right: 4px; cursor: pointer; font: inherit; } .tab.on { border-color: var(--cpu); font-weight: 600; }
        .unit-cpu { --unit: var(--cpu); } .unit-gpu { --unit: var(--gpu); }
        .unit-accelerator { --unit: var(--accelerator); } .unit-other { --unit: var(--other); }
        .legend { margin-left: auto; display: flex; gap: 14px; color: var(--dim); } .legend .idle { --unit: var(--line); }
        i { display: inline-block; width: 10px; height: 10px; border-radius: 3px; background: var(--unit); margin-right: 6px; }
        .cards { display: flex; flex-wrap: wrap; gap: 10px; margin-bottom: 12px; }
        .card { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--unit, var(--line));
          border-radius: 8px; padding: 8px 14px; display: flex; flex-direction: column; }
        .card b { font-size: 17px; } .card span { color: var(--dim); font-size: 12px; }
        .remarks { color: var(--dim); margin: 0 0 12px; padding-left: 18px; }
        .graph { background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; height: 70vh;
          min-height: 240px; margin-bottom: 16px; } .graph svg { display: block; width: 100%; height: 100%; cursor: grab; }
        .edge { fill: none; stroke: var(--edge); stroke-width: 1.3; }
        .edge.crossing { stroke: var(--hot); stroke-width: 1.8; stroke-dasharray: 5 3; }
        .edge.on { stroke: var(--text); stroke-width: 2; }
        .node { cursor: default; outline: none; } .node text { font-size: 12px; fill: var(--text); }
        .node .box { fill: color-mix(in srgb, var(--unit, var(--line)) 14%, var(--card)); stroke: var(--unit, var(--line));
          stroke-width: 1.3; } .node.idle .box { fill: var(--card); stroke-dasharray: 4 3; }
        .node .bar { fill: var(--unit); } .node .name { font-weight: 600; }
        .node .source, .node .time { fill: var(--dim); font-size: 11px; } .node .time { text-anchor: end; }
        .node .middle { text-anchor: middle; font-size: 11px; } .node.argument .box, .node.output .box { fill: var(--bg); }
        .node:hover .box, .node:focus .box, .node.on .box { stroke-width: 2.6; }
        table { border-collapse: collapse; width: 100%; background: var(--card); border: 1px solid var(--line);
          border-radius: 8px; margin-bottom: 16px; font-size: 13px; }
        th, td { text-align: left; padding: 5px 10px; border-bottom: 1px solid var(--line); vertical-align: top; }
        th { color: var(--dim); font-weight: 600; } .patterns th { cursor: pointer; } tr.on td { background: var(--bg); }
        .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; } small { color: var(--dim); }
        #tip { position: fixed; pointer-events: none; max-width: 460px; background: var(--card); color: var(--text);
          border: 1px solid var(--line); border-radius: 8px; padding: 10px 12px; box-shadow: 0 6px 24px #0004; font-size: 12px;
          z-index: 2; } #tip h4 { margin: 0 0 4px; font-size: 13px; } #tip dl { display: grid; margin: 0; gap: 1px 10px;
          grid-template-columns: auto 1fr; } #tip dt { color: var(--dim); } #tip dd { margin: 0; overflow-wrap: anywhere; }
        """

    static let script = """
        const report = JSON.parse(document.getElementById('report').textContent);
        const tip = document.getElementById('tip');
        const time = s => s == null ? '-' : s < 1e-3 ? (s * 1e6).toFixed(1) + ' µs' : s < 1 ? (s * 1e3).toFixed(2) + ' ms'
          : s.toFixed(2) + ' s';
        const bytes = n => n < 1024 ? n + ' bytes' : n < 1048576 ? (n / 1024).toFixed(1) + ' KiB'
          : (n / 1048576).toFixed(1) + ' MiB';
        function fill(pattern) {
          tip.replaceChildren();
          const head = document.createElement('h4');
          head.textContent = '#' + pattern.id + ' ' + pattern.name.replace(/^engine\\./, '') + ' on ' + pattern.unit;
          const list = document.createElement('dl');
          const add = (key, value) => {
            const dt = document.createElement('dt'), dd = document.createElement('dd');
            dt.textContent = key; dd.textContent = value; list.append(dt, dd);
          };
          add('measured', time(pattern.measured_seconds) + (pattern.measurement === 'part' ? ' (its share of its part)' : ''));
          add('estimated', time(pattern.estimated_seconds));
          if (pattern.crossing_byte_count) add('between units', bytes(pattern.crossing_byte_count));
          pattern.operations.forEach((op, i) => add(i ? '' : 'operations', op.name + (op.source ? '  ' + op.source : '')));
          pattern.results.forEach((type, i) => add(i ? '' : 'results', type));
          pattern.declined.forEach(d => add('not ' + d.unit, d.reason));
          tip.append(head, list);
        }
        function place(x, y) {
          const box = tip.getBoundingClientRect();
          tip.style.left = Math.max(8, Math.min(x + 16, innerWidth - box.width - 8)) + 'px';
          tip.style.top = Math.max(8, y + 16 + box.height > innerHeight ? y - box.height - 12 : y + 16) + 'px';
        }
        document.querySelectorAll('section').forEach(section => {
          const patterns = report.functions[section.dataset.function].patterns;
          section.querySelectorAll('.node[data-id]').forEach(node => {
            const pattern = patterns[node.dataset.id];
            const row = section.querySelector('tr[data-row="' + node.dataset.id + '"]');
            const show = (x, y) => { fill(pattern); tip.hidden = false; place(x, y); row.classList.add('on'); };
            const hide = () => { tip.hidden = true; row.classList.remove('on'); };
            node.addEventListener('pointerenter', e => show(e.clientX, e.clientY));
            node.addEventListener('pointermove', e => place(e.clientX, e.clientY));
            node.addEventListener('pointerleave', hide);
            node.addEventListener('focus', () => { const r = node.getBoundingClientRect(); show(r.right, r.top); });
            node.addEventListener('blur', hide);
            row.addEventListener('pointerenter', () => node.classList.add('on'));
            row.addEventListener('pointerleave', () => node.classList.remove('on'));
          });
          section.querySelectorAll('.patterns th').forEach((th, column) => th.addEventListener('click', () => {
            const body = th.closest('table').tBodies[0], down = th.dataset.down !== '1';
            const key = tr => { const td = tr.cells[column];
              return td.dataset.value !== undefined ? +td.dataset.value : column === 0 ? +td.textContent : td.textContent; };
            const rows = [...body.rows].sort((a, b) => { const x = key(a), y = key(b); return x < y ? -1 : x > y ? 1 : 0; });
            th.dataset.down = down ? '1' : '0';
            body.append(...(down && column > 2 ? rows.reverse() : down ? rows : rows.reverse()));
          }));
        });
        document.querySelectorAll('.graph').forEach(frame => {
          const svg = frame.querySelector('svg'), full = svg.viewBox.baseVal;
          const whole = { w: full.width, h: full.height };
          const fit = () => {
            const r = frame.clientWidth / frame.clientHeight || 1.6;
            // Readable first: a long graph starts at its top, in its own size.
            const w = Math.max(whole.w, Math.min(frame.clientWidth, whole.h * r));
            return { x: (whole.w - w) / 2, y: 0, w, h: w / r };
          };
          let view;
          const apply = () => svg.setAttribute('viewBox', [view.x, view.y, view.w, view.h].join(' '));
          const reset = () => {
            frame.style.height = Math.min(innerHeight * 0.7, whole.h + 8) + 'px';
            view = fit(); apply();
          };
          reset();
          svg.addEventListener('wheel', e => {
            const box = svg.getBoundingClientRect(), k = Math.exp(e.deltaY * 0.005);
            if (!e.ctrlKey && !e.metaKey && !e.altKey) {
              // At its ends the picture lets the page scroll.
              if (e.deltaY < 0 ? view.y <= 0 : view.y + view.h >= whole.h) return;
              e.preventDefault();
              view.y += e.deltaY * view.h / box.height; view.x += e.deltaX * view.w / box.width; return apply();
            }
            e.preventDefault();
            const px = view.x + (e.clientX - box.left) / box.width * view.w;
            const py = view.y + (e.clientY - box.top) / box.height * view.h;
            view = { x: px - (px - view.x) * k, y: py - (py - view.y) * k, w: view.w * k, h: view.h * k };
            apply();
          }, { passive: false });
          let from = null;
          svg.addEventListener('pointerdown', e => { from = { x: e.clientX, y: e.clientY, view: { ...view } }; });
          addEventListener('pointermove', e => {
            if (!from) return;
            const box = svg.getBoundingClientRect();
            view.x = from.view.x - (e.clientX - from.x) / box.width * view.w;
            view.y = from.view.y - (e.clientY - from.y) / box.height * view.h;
            apply();
          });
          addEventListener('pointerup', () => { from = null; });
          svg.addEventListener('dblclick', reset);
          document.addEventListener('shown', reset);
        });
        document.querySelectorAll('.tab').forEach(tab => tab.addEventListener('click', () => {
          document.querySelectorAll('.tab').forEach(t => t.classList.toggle('on', t === tab));
          document.querySelectorAll('section').forEach(s => { s.hidden = s.dataset.function !== tab.dataset.tab; });
          document.dispatchEvent(new Event('shown'));
        }));
        """
}
