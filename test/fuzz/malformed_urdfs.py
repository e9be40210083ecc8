# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Words that readers of URDF have stumbled over, or may: names, numbers, values, whole headers."""

NAMES = (
    '', ' ', 'base', 'é', 'e\u0301', ' joint ', 'a b', 'a\u00a0b', 'a\u3000b', 'Ａ', 'ﬁ', '<&">\'',
    '\u0642\u0627\u0639\u062f\u0629', '\u05e9\u05dc\u05d5\u05dd', '\u202eesab', '\u2066a\u2069',
    '\U0001f9be', '\U0001f469\u200d\U0001f52c', 'a\u200db', 'a\ufeff', 'z\u0300\u0301\u0302\u0303',
    '\u0301', '\ue000', '\U0010ffff', 'a\nb', 'a\tb', '\r', '\x7f', '\x85', '\x9b31m', 'a\u2028b',
    '關節', 'сустав', '/', '../../etc/passwd', '%s%n', '{0}', '\\', '${x}', '$(arg x)', '[/red]',
    'j' * 300, 'q' * 70_000, '\u0fda' * 5_000, 'robot', 'link', 'None', '0', '-1', 'nan')
NUMBERS = (
    '', ' ', '0', '-0', '1', '-1', '+1', '.5', '5.', '1e9', '-1e9', '1e-9', '1e-320', '5e-324',
    '-5e-324', '1e-160', '1e16', '-1e16', '1e150', '1e308', '-1e308', '1e400', '-1e400', 'nan',
    'NaN', 'NaN(7)', 'inf', '-inf', 'Infinity', '0x10', '0x1p3', '1_0', '1,5', '1e', '1e+', '--1',
    '1d3', 'true', '½', '１２', '٣', '1\u00a0', '\u20031', '1 2', '0 0', '0 0 0', '0 0 1', '1 1 1',
    '0 0 0 0', '1e-5 0 0', '1e9 1e9 1e9', '1e-320 0 0', '3.2 1e9 -1e9', '1 nan 0', '0 0 1e400',
    '0\u00a00\u20031', '${pi}', '$(find x)', '9' * 400, '0.' + '0' * 5_000 + '1', '1 ' * 9_000)
TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar', 'ball', 'Revolute',
         ' fixed', 'fixed ', 'mimic', 'universal', '')
TAGS = ('link', 'joint', 'robot', 'inertial', 'inertia', 'mass', 'origin', 'axis', 'limit',
        'dynamics', 'mimic', 'parent', 'child', 'visual', 'collision', 'geometry', 'gazebo',
        'transmission', 'calibration', 'safety_controller', 'springStiffness', 'material', 'group',
        'robodyn', 'gravity', 'backward', 'warning',
        'é', '_', '{http://www.ros.org/wiki/xacro}macro',
        '{http://www.w3.org/2001/XInclude}include', '{}x')
ATTRIBUTES = ('name', 'type', 'link', 'joint', 'xyz', 'rpy', 'quat_xyzw', 'value', 'ixx', 'ixy',
              'izz', 'lower', 'upper', 'effort', 'velocity', 'damping', 'friction', 'multiplier',
              'offset', 'armature', 'rotor_inertia', 'gear_ratio', 'static_friction',
              'friction_velocity', 'stribeck_velocity', 'presliding_distance', 'load_friction',
              'coupling_ratio', 'coupled_damping', 'coupled_friction', 'unlimited', 'rotation',
              'body', 'version', 'acceleration', 'jerk', 'é', '{a\nb}c',
              '{http://www.w3.org/XML/1998/namespace}base')
# Bytes that no XML library would write, put in the place of a word.
RAW = (b'\0', b'&#0;', b'&#x1b;[31m', b'&#x9b;31m', b'&#10;FATAL', b'&#xD800;', b'&#xFFFE;',
       b'&#x110000;', b'&#99999999999999999999;', b'\xed\xa0\x80', b'\xc0\xaf', b'\xff\xfe',
       b'\x1b', b'\xf4\x90\x80\x80', b'&nothing;', b'&amp', b'<', b'&lt;&gt;&quot;', b'"', b']]>',
       b'<!--')
ENCODINGS = ('utf-8', 'UTF8', 'us-ascii', 'iso-8859-1', 'windows-1252', 'utf-16', 'utf-16le',
             'utf-32', 'utf-7', 'ebcdic-cp-us', 'shift_jis', 'gb18030', 'x-nothing', '',
             'u' * 5_000)
# What the judge puts in place of these is watched: nobody may open it.
CANARY_FILE, CANARY_HTTP = b'@CANARY-FILE@', b'@CANARY-HTTP@'
