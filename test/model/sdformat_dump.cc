// Copyright 2026 robodyn_ros contributors
// SPDX-License-Identifier: Apache-2.0
// Print what sdformat, the reader of Gazebo, makes of URDF files: one line of tab-separated fields
// for each error, link, joint and plugin. Poses are in the frame of the model.

#include <iostream>
#include <limits>

#include <sdf/Element.hh>
#include <sdf/Joint.hh>
#include <sdf/JointAxis.hh>
#include <sdf/Link.hh>
#include <sdf/Model.hh>
#include <sdf/Root.hh>

template<typename Matrix>
void print_matrix(const Matrix & matrix)
{
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      std::cout << '\t' << matrix(i, j);
    }
  }
}

template<typename Vector>
void print_vector(const Vector & vector)
{
  std::cout << '\t' << vector.X() << '\t' << vector.Y() << '\t' << vector.Z();
}

void print_model(const sdf::Model & model)
{
  for (uint64_t i = 0; i < model.LinkCount(); ++i) {
    const auto & link = *model.LinkByIndex(i);
    auto pose = link.RawPose();
    link.SemanticPose().Resolve(pose);
    const auto & inertial = link.Inertial();
    const auto center = pose * inertial.Pose();
    const auto turn = decltype(inertial.Moi())(center.Rot());
    std::cout << "link\t" << link.Name() << '\t' << inertial.MassMatrix().Mass();
    print_vector(center.Pos());
    print_matrix(turn * inertial.MassMatrix().Moi() * turn.Transposed());
    std::cout << '\n';
  }
  for (uint64_t i = 0; i < model.JointCount(); ++i) {
    const auto & joint = *model.JointByIndex(i);
    if (joint.Type() == sdf::JointType::FIXED) {
      continue;
    }
    auto pose = joint.RawPose();
    joint.SemanticPose().Resolve(pose, "__model__");
    const auto & axis = *joint.Axis();
    auto direction = axis.Xyz();
    axis.ResolveXyz(direction, "__model__");
    std::cout << "joint\t" << joint.Name();
    print_vector(pose.Pos());
    print_vector(direction);
    std::cout << '\t' << axis.Lower() << '\t' << axis.Upper() << '\t' << axis.Effort() << '\t' <<
      axis.MaxVelocity() << '\t' << axis.Damping() << '\t' << axis.Friction() << '\n';
  }
  auto plugin = model.Element()->FindElement("plugin");
  for (; plugin; plugin = plugin->GetNextElement("plugin")) {
    std::cout << "plugin\t" << plugin->Get<std::string>("filename") << '\t' <<
      plugin->Get<std::string>("name");
    for (auto child = plugin->GetFirstElement(); child; child = child->GetNextElement()) {
      std::cout << '\t' << child->GetName() << '\t' << child->Get<std::string>();
    }
    std::cout << '\n';
  }
}

int main(int count, char ** paths)
{
  std::cout.precision(std::numeric_limits<double>::max_digits10);
  for (int i = 1; i < count; ++i) {
    std::cout << "file\t" << paths[i] << '\n';
    sdf::Root root;
    for (const auto & error : root.Load(paths[i])) {
      std::cout << "error\t" << error.Message() << '\n';
    }
    if (root.Model() != nullptr) {
      print_model(*root.Model());
    }
  }
}
